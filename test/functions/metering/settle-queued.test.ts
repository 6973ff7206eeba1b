import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SQSBatchResponse } from 'aws-lambda';
import fc from 'fast-check';
import { type Admission, admit } from '../../../functions/inference/admission/admit.ts';
import { releaseDeadAttempt } from '../../../functions/inference/idempotency/release-dead-attempt.ts';
import { settle } from '../../../functions/inference/pipeline/settle-request.ts';
import { queuedSettlements } from '../../../functions/metering/queued-settlements.ts';
import type { Settling } from '../../../functions/metering/settle-queued.ts';
import { sweep } from '../../../functions/metering/sweep.ts';
import { createFifoQueue } from '../../../infra/local/sqs/fifo-queue.ts';
import { type LimiterItem, storedEntriesOf } from '../../../shared/admission/item/limiter-item.ts';
import type { PresentedKey } from '../../../shared/admission/item/secret.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import type { TimedContext } from '../../../shared/middleware/deadline.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { toMessage } from '../../../shared/usage/settlement-queue.ts';
import { createUsageStore } from '../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash, failing, unreliable } from '../../support/faults/unreliable-database.ts';
import { makeCaller, makeKey } from '../../support/fixtures/callers.ts';
import { eventOf } from '../../support/fixtures/completed-event.ts';
import { limitOrganization } from '../../support/fixtures/limit-organization.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { sized } from '../../support/sized.ts';

const START = Date.UTC(2026, 10, 21, 12);
const MAX_IN_FLIGHT_MS = 11 * MINUTE_MS;
const HOLD = 5_000n;
const COST = 4_000n;
const CREDIT = 1_000_000n;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

// As the function does.
const settleBatch = (deps: Settling, Records: readonly object[], hasTime: () => boolean): Promise<SQSBatchResponse> =>
  middy<unknown, SQSBatchResponse>().use(queueMessages(queuedSettlements(deps)))({ Records }, { hasTime } as TimedContext);

// The organization is prepaid; each request has a queue of its own.
const setUp = async (fields: Parameters<typeof makeKey>[1] = {}) => {
  let now = START;
  const org = newId('organization');
  const key: PresentedKey = await makeKey(database.limiters, { org, total_budget_nanos: CREDIT, ...fields });
  await limitOrganization(database.limiters, org, { isPrepaid: true }, START);
  await database.database.update({
    TableName: database.tables.Keys as string,
    Key: { id: org },
    UpdateExpression: 'SET avail = :credit',
    ExpressionAttributeValues: { ':credit': CREDIT },
  });
  const requestId = newRequestId(START);
  const request = { key, model: 'm', requestId, tokens: 10, maxCostNanos: () => HOLD };
  const keys = makeCaller(database.limiters, () => now);
  const admission = await admit(keys, request);
  const event = eventOf(admission, { tokens: 7, costNanos: COST });
  const queue = createFifoQueue(() => now);
  const send = async (sent: UsageEvent, { reservations, shards }: Admission = admission): Promise<void> => {
    const body = toMessage({ event: sent, limiterId: reservations[0]?.limiterId ?? '', shards });
    queue.send({ body, group: sent.request_id, deduplicationId: `${sent.request_id}.${sent.admitted_at}.${sent.outcome}` });
  };
  /** Delivers what is due, over this database; returns how many messages are delivered again. */
  const deliver = async (over: Database = database.database): Promise<number> => {
    const stores = {
      limiters: createLimiterStore(over, database.tables.Keys as string),
      usage: createUsageStore(over, database.tables.Usage as string),
    };
    const batch = queue.receive(10);
    const records = batch.map(({ id, body, group }) => ({ messageId: id, body, attributes: { MessageGroupId: group } }));
    const { batchItemFailures } = await settleBatch({ database: over, ...stores, now: () => now }, records, () => true);
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const message of batch) if (!failed.has(message.id)) queue.remove(message);
    return failed.size;
  };
  const sweepNow = () =>
    sweep({
      limiters: database.limiters,
      usage: database.usage,
      now: () => now,
      maxInFlightMs: MAX_IN_FLIGHT_MS,
      settlements: {
        send: async ({ event: orphan, limiterId, shards }) =>
          send(orphan, {
            ...admission,
            shards,
            reservations: [{ ...admission.reservations[0], limiterId } as (typeof admission.reservations)[0]],
          }),
      },
      hasTime: () => true,
    });
  // By the event, the key's budget and the organization's credit. They must agree, and nothing may be in flight.
  const charged = async (): Promise<bigint> => {
    const [own, organization, stored] = await Promise.all([
      database.limiters.get(key.keyId),
      database.limiters.get(org),
      database.usage.get(key.keyId, requestId, admission.shards),
    ]);
    expect([own?.fl, organization?.fl]).toEqual([{}, {}]);
    const cost = stored?.cost_nanos ?? 0n;
    expect([BigInt(own?.spent ?? 0), CREDIT - BigInt(organization?.avail ?? 0)]).toEqual([cost, cost]);
    return cost;
  };
  return {
    key,
    request,
    admission,
    event,
    keys,
    send,
    deliver,
    sweep: sweepNow,
    charged,
    stored: () => database.usage.get(key.keyId, requestId, admission.shards),
    wait: (ms: number) => {
      now += ms;
    },
  };
};

type SetUp = Awaited<ReturnType<typeof setUp>>;

const replaceItem = (item: Record<string, unknown>): Promise<unknown> =>
  database.database.put({ TableName: database.tables.Keys as string, Item: item });

// As a backup from before the request has them: without its reservations, and without what was counted.
const restoreLimiters = async ({ key, admission }: SetUp): Promise<void> => {
  const own = await database.limiters.get(key.keyId);
  for (const id of [key.keyId, own?.org as string]) {
    const item = await database.limiters.get(id);
    const { [admission.requestId]: _, ...fl } = storedEntriesOf(item as LimiterItem);
    const before = Object.fromEntries(Object.entries(item ?? {}).filter(([name]) => !/^([rtdm]\d+|spent|slot|last_used|ep)$/.test(name)));
    const avail = { ...(item?.avail !== undefined && { avail: CREDIT }) };
    await replaceItem({ ...before, ...avail, fl });
  }
};

// As a repetition that takes over does, before it is admitted.
const undo = async ({ key, admission }: SetUp): Promise<void> => {
  const item = await database.limiters.get(key.keyId);
  await releaseDeadAttempt(database.limiters, item as Parameters<typeof releaseDeadAttempt>[1], admission.requestId, undefined, START);
};

describe('settleQueued', () => {
  test('charges and releases exactly as the function would have', async () => {
    const { event, send, deliver, charged, stored } = await setUp();
    await send(event);
    expect(await deliver()).toBe(0);
    expect(await charged()).toBe(COST);
    expect(await stored()).toEqual(event);
  });

  test('releases by the stored event, if another settlement wrote it and crashed before its release', async () => {
    const { admission, event, send, deliver, charged } = await setUp();
    const orphan: UsageEvent = { ...event, outcome: 'orphaned', cost_nanos: 0n, completion_tokens: 0, prompt_tokens: 0 };
    await database.usage.putIfAbsent(orphan, admission.shards);
    await send(event);
    expect(await deliver()).toBe(0);
    expect(await charged()).toBe(0n);
  });

  test('retries until the database takes it, and a sweep meanwhile does not make the request free', async () => {
    const { event, send, deliver, sweep: sweepIt, charged, stored, wait } = await setUp();
    await send(event);
    expect(await deliver(failing(new DatabaseUnavailable(new Error('down'))))).toBe(1);
    wait(MAX_IN_FLIGHT_MS + MINUTE_MS);
    expect(await sweepIt()).toMatchObject({ orphaned: 1, released: 0 });
    expect(await stored()).toBeUndefined();
    // The first message is still down: the sweep's must wait.
    expect(await deliver(failing(new DatabaseUnavailable(new Error('down'))))).toBe(2);
    expect(await deliver()).toBe(0);
    expect(await charged()).toBe(COST);
    expect(await stored()).toMatchObject({ outcome: 'completed' });
  });

  test('leaves a request without a message to the sweep, which finds an orphan', async () => {
    const { deliver, sweep: sweepIt, charged, stored, wait } = await setUp();
    wait(MAX_IN_FLIGHT_MS + MINUTE_MS);
    await sweepIt();
    await deliver();
    expect(await charged()).toBe(0n);
    expect(await stored()).toMatchObject({ outcome: 'orphaned' });
  });

  test('does not touch the reservation of a later attempt of its request, and the request is charged once', async () => {
    const set = await setUp();
    const { key, request, admission, event, keys, send, deliver, charged, wait } = set;
    await send(event);
    wait(MINUTE_MS);
    await undo(set);
    const again = await admit(keys, request);
    expect(await deliver()).toBe(0);
    expect(Object.keys((await database.limiters.get(key.keyId))?.fl ?? {})).toEqual([admission.requestId]);
    await settle({ usage: database.usage, keys }, again, eventOf(again, { tokens: 7, costNanos: 3_000n }));
    expect(await charged()).toBe(3_000n);
  });

  test('charges nothing while a later attempt of its request is in flight in another shard of its key', async () => {
    const set = await setUp({ tokens_per_minute: 200_000, total_budget_nanos: 3_000_000_000n });
    const { admission, event, send, deliver, stored } = set;
    await send(event);
    const [own] = admission.reservations;
    const other = shardIds(set.key.keyId, admission.shards).find((id) => id !== own?.limiterId);
    await undo(set);
    await replaceItem({ ...(await database.limiters.get(other as string)), fl: { [admission.requestId]: [START + 1, 10, 0, 0, 1] } });
    expect(await deliver()).toBe(0);
    expect(await stored()).toBeUndefined();
  });

  test('charges a request once that was undone in the same moment for a repetition that was then rejected', async () => {
    const set = await setUp();
    const { event, request, keys, send, deliver, charged, wait } = set;
    await send(event);
    const late: Database = {
      ...database.database,
      transactWrite: async (input) => {
        await undo(set);
        await database.database.transactWrite(input);
      },
    };
    expect(await deliver(late)).toBe(1);
    expect(await deliver()).toBe(0);
    expect(await charged()).toBe(COST);
    wait(MINUTE_MS);
    const again = await admit(keys, request);
    await settle({ usage: database.usage, keys }, again, eventOf(again, { tokens: 7, costNanos: 3_000n }));
    expect(await charged()).toBe(COST);
  });

  test('leaves the event to a repetition, if an attempt failed that was undone for it', async () => {
    const set = await setUp();
    const { event, send, deliver, charged, stored } = set;
    await send({ ...event, outcome: 'upstream_failed', cost_nanos: 0n, completion_tokens: 0, prompt_tokens: 0 });
    await undo(set);
    expect(await deliver()).toBe(0);
    expect(await stored()).toBeUndefined();
    expect(await charged()).toBe(0n);
  });

  test.each([false, true])('charges a request whose reservations a restore has lost, once (key used since: %s)', async (isUsedSince) => {
    const set = await setUp();
    const { key, event, send, deliver, charged, stored, wait } = set;
    await restoreLimiters(set);
    if (isUsedSince) await replaceItem({ ...(await database.limiters.get(key.keyId)), last_used: START + MINUTE_MS });
    await send(event);
    await deliver();
    await send({ ...event, outcome: 'timed_out' });
    wait(6 * MINUTE_MS);
    await deliver();
    expect(await stored()).toEqual(event);
    expect(await charged()).toBe(COST);
  });

  test('waits for a limiter that a restore has lost, and charges its request when it is rebuilt', async () => {
    const set = await setUp();
    const { key, event, send, deliver, charged, sweep: sweepIt, stored, wait } = set;
    await send(event);
    await restoreLimiters(set);
    const rebuilt = await database.limiters.get(key.keyId);
    await database.database.delete({ TableName: database.tables.Keys as string, Key: { id: key.keyId } });
    expect(await deliver()).toBe(1);
    expect(await stored()).toBeUndefined();
    await replaceItem({ ...rebuilt });
    wait(MAX_IN_FLIGHT_MS + MINUTE_MS);
    await sweepIt();
    expect(await deliver()).toBe(0);
    expect(await stored()).toEqual(event);
    expect(await charged()).toBe(COST);
  });

  test('redelivers an unreadable message, which does not hold up others', async () => {
    const { event, deliver, send, charged } = await setUp();
    await send({ ...event, request_id: 'req_other', cost_nanos: 'nothing' as unknown as bigint });
    await send(event);
    expect(await deliver()).toBe(1);
    expect(await charged()).toBe(COST);
  });
});

test('messages for which the function has no time left are delivered again, without a try', async () => {
  const { limiters, usage } = database;
  const messages = ['a', 'b'].map((messageId) => ({ messageId, body: '', attributes: {} }));
  const deps = { database: failing(new Error('It was called.')), limiters, usage, now: () => START };
  expect(await settleBatch(deps, messages, () => false)).toEqual({
    batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: 'b' }],
  });
});

test('the ledger equals the event, whatever function, queue, sweep and takeover do and wherever they crash', async () => {
  const crashing = (random: () => number): Database => {
    let left = Math.floor(random() * 8);
    return unreliable(database.database, { random, lostRequests: 0.1, lostReplies: 0.1, crash: () => left-- === 0 });
  };
  const actors = fc.constantFrom('function', 'delivery', 'delivery', 'sweep', 'takeover');
  let charges = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(actors, { minLength: 2, maxLength: 6 }),
      fc.boolean(),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      async (names, isSent, numbers) => {
        const random = (): number => numbers.next().value as number;
        const set = await setUp();
        if (isSent) await set.send(set.event);
        set.wait(MAX_IN_FLIGHT_MS + MINUTE_MS);
        const acts = {
          function: async () => {
            const over = crashing(random);
            const keys = { ...set.keys, store: createLimiterStore(over, database.tables.Keys as string) };
            await settle({ usage: createUsageStore(over, database.tables.Usage as string), keys }, set.admission, set.event);
          },
          delivery: async () => void (await set.deliver(crashing(random))),
          sweep: async () => void (await set.sweep()),
          takeover: async () => {
            // Only a request whose function has ended is taken over.
            if (names.includes('function')) return;
            const stored = await set.stored();
            const item = await database.limiters.get(set.key.keyId);
            await releaseDeadAttempt(
              database.limiters,
              item as Parameters<typeof releaseDeadAttempt>[1],
              set.admission.requestId,
              stored,
              START,
            );
          },
        };
        await Promise.all(
          names.map((name) =>
            acts[name]().catch((error: Error) => {
              if (!(error instanceof Crash || error.name === 'Error')) throw error;
            }),
          ),
        );
        for (let run = 0; run < 3; run++) {
          set.wait(6 * MINUTE_MS);
          await set.sweep();
          while ((await set.deliver()) > 0);
        }
        const cost = await set.charged();
        const stored = await set.stored();
        if (stored?.outcome === 'completed') expect(cost).toBe(COST);
        // Nothing makes a request free whose settlement was queued.
        if (isSent) expect(cost).toBe(COST);
        if (cost > 0n) charges++;
      },
    ),
    { numRuns: sized(20, 60), seed: 20_261_121 },
  );
  expect(charges).toBeGreaterThan(sized(5, 20));
});
