import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import { crashingStores } from '../../../support/faults/crashing-stores.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { makeCaller } from '../../../support/fixtures/callers.ts';
import { answers, startTestPipeline, type TestPipeline } from '../../../support/fixtures/pipeline.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';
import { counting } from './counting-upstream.ts';

let pipeline: TestPipeline;
beforeAll(async () => {
  pipeline = await startTestPipeline();
});
afterAll(async () => {
  await pipeline.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});

const KEY = { 'idempotency-key': 'order-1' };

describe('a function that crashes during an idempotent request', () => {
  const LEASE_OVER_MS = 661_000;

  // Returns the reply to a repetition `afterMs` after the first attempt crashed at a write.
  const dieAndRepeat = async (write: 'event' | 'end key', when: 'before' | 'after', afterMs: number, sweepFirst = false) => {
    const { database } = pipeline;
    let clock = Date.now();
    const now = (): number => clock;
    const crashing = crashingStores(database.limiters, database.usage, { write, when });
    let stores: { store: typeof database.limiters; usage: UsageStore } = crashing;
    const changing = {
      now,
      idempotency: createIdempotencyStore(database.database, database.tables.Responses as string, now),
      usage: { ...database.usage, putIfAbsent: (...of: Parameters<UsageStore['putIfAbsent']>) => stores.usage.putIfAbsent(...of) },
      keys: makeCaller({ ...database.limiters, end: (ending) => stores.store.end(ending), admit: (plan) => stores.store.admit(plan) }, now),
    };
    const { counted, requestCount } = counting(answers);
    const set = await pipeline.setUp(counted, changing, { day_budget_nanos: 10n ** 12n });
    // A crashed function does not reply.
    await set.call({}, 600_000, KEY).catch((error: Error) => expect(error).toBeInstanceOf(Crash));
    // It also crashes before it can complete its key.
    await reopen(set.keyId);
    stores = { store: database.limiters, usage: database.usage };
    clock += afterMs;
    if (sweepFirst) {
      const options = { limiters: database.limiters, usage: database.usage, maxInFlightMs: 11 * MINUTE_MS };
      await sweepNow({ ...options, now, hasTime: () => true, database: database.database });
    }
    const reply = await set.call({}, 600_000, KEY).catch((error: Error) => error);
    const item = await database.limiters.get(set.keyId);
    return {
      reply,
      requestCount: requestCount(),
      events: await set.events(),
      inFlight: await set.inFlight(),
      spent: BigInt(item?.spent ?? 0),
    };
  };

  const reopen = async (keyId: string): Promise<void> => {
    const { database, sdk, tables } = pipeline.database;
    const TableName = tables.Responses as string;
    const { Items = [] } = await sdk.scan({ TableName });
    const record = Items.find(({ id, holder }) => holder !== undefined && String(id).startsWith(`idempotency#${keyId}#`));
    if (!record) throw new Error('The key was given back.');
    await database.update({ TableName, Key: { id: record.id }, UpdateExpression: 'REMOVE completed_at, content_type' });
  };

  test('holds its key until its lease ends', async () => {
    expect(await dieAndRepeat('event', 'before', 60_000)).toMatchObject({ reply: { status: 409 }, requestCount: 1, inFlight: 1 });
  });

  test('leaves the request to its repetition if it has no usage event yet: one event, one charge', async () => {
    const { reply, requestCount, events, inFlight, spent } = await dieAndRepeat('event', 'before', LEASE_OVER_MS);
    expect(reply).toMatchObject({ statusCode: 200 });
    expect(requestCount).toBe(2);
    expect(events).toEqual([expect.objectContaining({ outcome: 'completed', cost_nanos: spent })]);
    expect(spent).toBeGreaterThan(0n);
    expect(inFlight).toBe(0);
  });

  test.each([
    ['event', 'after'],
    ['end key', 'before'],
    ['end key', 'after'],
  ] as const)('has charged it at the write of its %s, %s it is done: its repetition costs nothing more', async (write, when) => {
    const { reply, requestCount, events, inFlight, spent } = await dieAndRepeat(write, when, LEASE_OVER_MS);
    expect(reply).toMatchObject({ statusCode: 200 });
    expect(requestCount).toBe(2);
    expect(events).toEqual([expect.objectContaining({ outcome: 'completed', cost_nanos: spent })]);
    expect(spent).toBeGreaterThan(0n);
    expect(inFlight).toBe(0);
  });

  test('charges once if it crashes after the charge, even if its repetition fails', async () => {
    const { database } = pipeline;
    let clock = Date.now();
    const now = (): number => clock;
    let answer: Invoke = answers;
    const crashing = crashingStores(database.limiters, database.usage, { write: 'event', when: 'after' });
    let isDead = false;
    const keys = makeCaller({ ...database.limiters, end: (ending) => (isDead ? database.limiters : crashing.store).end(ending) }, now);
    const usage: UsageStore = { ...database.usage, putIfAbsent: (...of) => (isDead ? database.usage : crashing.usage).putIfAbsent(...of) };
    const idempotency = createIdempotencyStore(database.database, database.tables.Responses as string, now);
    const set = await pipeline.setUp((invocation) => answer(invocation), { now, keys, usage, idempotency }, { concurrency: 1 });
    await set.call({}, 600_000, KEY).catch((error: Error) => expect(error).toBeInstanceOf(Crash));
    await reopen(set.keyId);
    isDead = true;
    clock += LEASE_OVER_MS;
    answer = async function* () {
      yield* [];
      throw new Error('The model is away.');
    };
    await expect(set.call({}, 600_000, KEY)).rejects.toThrow();
    answer = answers;
    expect(await set.call({}, 600_000, KEY)).toMatchObject({ statusCode: 200 });
    expect(await set.events()).toEqual([expect.objectContaining({ outcome: 'completed' })]);
    expect(await set.inFlight()).toBe(0);
  });

  test('leaves the repetition to be a new request with its own charge if its request was swept', async () => {
    const { reply, events, inFlight, spent } = await dieAndRepeat('event', 'before', 12 * MINUTE_MS, true);
    expect(reply).toMatchObject({ statusCode: 200 });
    expect(events.map(({ outcome }) => outcome).sort()).toEqual(['completed', 'orphaned']);
    expect(events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n)).toBe(spent);
    expect(inFlight).toBe(0);
  });
});
