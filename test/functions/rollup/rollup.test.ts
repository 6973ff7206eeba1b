import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Rollups, recompute } from '../../../functions/rollup/rollup.ts';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { rebuild } from '../../../infra/tools/admin/rebuild/rebuild-totals.ts';
import type { BillingTask } from '../../../shared/billing/billing-tasks.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createActivityStore, type LastEvent } from '../../../shared/deployments/activity-store.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { Rollup } from '../../../shared/usage/rollup-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash, unreliable } from '../../support/faults/unreliable-database.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { plainOrganizationSums, rangeOf, sorted, VIEWS } from '../../support/fixtures/organization-sums.ts';
import { rollupStores } from '../../support/fixtures/rollups.ts';
import {
  bucketOf,
  DAY,
  DAY_BEFORE,
  Draft,
  eventsOf,
  inOrder,
  MAX_TEST_USERS,
  newKeys,
  organizationOf,
  plainSums,
  shardsOfKey,
  type TestKeys,
} from '../../support/fixtures/usage-events.ts';
import { sized } from '../../support/sized.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const depsOf = (line: Database): Rollups => rollupStores(line, database.tables.Usage as string, MAX_TEST_USERS);

// Pages of three items, so that events are added between the pages of a query.
const inSmallPages = (line: Database): Database => ({ ...line, query: (input) => line.query({ ...input, Limit: 3 }) });

// Its connection is unreliable, and it crashes before or after one of its calls if `crashes` is set.
const consumer = (random: () => number, crashes: boolean): Rollups => {
  let callsLeft = crashes ? Math.floor(random() * 24) : Number.POSITIVE_INFINITY;
  const faults = { random, lostRequests: 0.02, lostReplies: 0.02, crash: () => callsLeft-- <= 0 };
  return depsOf(inSmallPages(unreliable(database.database, faults)));
};

// Waits for the gate before its first write, and then writes what it read before.
const stalled = (gate: Promise<void>): Rollups => {
  const line = inSmallPages(database.database);
  const put: Database['put'] = async (input) => {
    await gate;
    return line.put(input);
  };
  return depsOf({ ...line, put });
};

const consume = (deps: Rollups, keys: TestKeys, batch: readonly UsageEvent[]): Promise<void> => {
  const buckets = new Map(batch.map((event) => bucketOf(keys, event)).map((bucket) => [JSON.stringify(bucket), bucket]));
  return recompute(deps, [...buckets.values()]);
};

const put = (keys: TestKeys, event: UsageEvent): Promise<UsageEvent> => database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));

const storedRollups = async (keys: TestKeys): Promise<Rollup[]> => {
  const { rollups } = depsOf(database.database);
  const lists = Object.values(keys).flatMap((keyId) => [
    rollups.listDays(keyId, DAY_BEFORE, DAY),
    ...[DAY_BEFORE, DAY].map((day) => rollups.listTenMinutes({ keyId, day })),
  ]);
  return (await Promise.all(lists.map((list) => Array.fromAsync(list)))).flat();
};

// In every span and detail.
const expectOrganizationTotals = async (keys: TestKeys, events: readonly UsageEvent[]): Promise<void> => {
  const { totals } = rollupStores(database.database, database.tables.Usage as string, MAX_TEST_USERS);
  for (const organization of [organizationOf(keys, keys.plain), organizationOf(keys, keys.foreign)])
    for (const view of VIEWS) {
      const stored = await Array.fromAsync(totals.list({ organization, ...view, ...rangeOf(DAY_BEFORE, DAY) }));
      const sums = plainOrganizationSums(events, { organization, ...view }, MAX_TEST_USERS);
      expect({ ...view, totals: sorted(stored) }).toEqual({ ...view, totals: sums });
      expect(stored.map(({ startMs }) => startMs)).toEqual(sums.map(({ startMs }) => startMs));
    }
};

// In another order, with duplicates.
const someOf = <Item>(items: readonly Item[], random: () => number): Item[] =>
  Array.from({ length: Math.ceil(random() * 10) }, () => items[Math.floor(random() * items.length)] as Item);

const shuffled = <Item>(items: readonly Item[], random: () => number): Item[] =>
  items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);

describe('recompute', () => {
  test('writes the sums of the events, despite concurrent consumers that repeat, stall and crash', async () => {
    let crashes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(Draft, { minLength: 1, maxLength: 24 }), fc.nat(), async (drafts, seed) => {
        const random = seededRandom(seed);
        const keys = newKeys();
        const events = shuffled(eventsOf(keys, drafts), random);
        const attempts: Promise<void>[] = [];
        const gate = Promise.withResolvers<void>();
        const late: Promise<void>[] = [];
        // Consumers run while events are written and see some of them.
        for (let written = 0; written < events.length; ) {
          const chunk = events.slice(written, written + 1 + Math.floor(random() * 6));
          written += chunk.length;
          await Promise.all(chunk.map((event) => put(keys, event)));
          const batch = someOf(events.slice(0, written), random);
          attempts.push(consume(consumer(random, random() < 0.4), keys, batch).catch(() => void crashes++));
          if (random() < 0.3) late.push(consume(stalled(gate.promise), keys, batch));
        }
        // Four consumers, each with its own batches, process every record until it succeeds.
        const records = shuffled([...events, ...someOf(events, random)], random);
        const last = Array.from({ length: 4 }, async (_, i) => {
          const own = records.filter((_record, at) => at % 4 === i);
          while (own.length > 0) {
            const batch = own.splice(0, 1 + Math.floor(random() * 8));
            await consume(consumer(random, random() < 0.5), keys, batch).catch(() => void crashes++);
            await consume(depsOf(inSmallPages(database.database)), keys, batch);
          }
        });
        await Promise.all([...attempts, ...last]);
        gate.resolve();
        await Promise.all(late);

        expect(inOrder(await storedRollups(keys))).toEqual(inOrder(plainSums(keys, events)));
        await expectOrganizationTotals(keys, events);
        const own = [keys.plain, keys.sharded].map((id) => ({
          id,
          shards: shardsOfKey(keys, id),
          organization: organizationOf(keys, id),
        }));
        const report = await rebuild(depsOf(database.database), DAY, own, () => Date.parse(DAY) + 7 * DAY_MS);
        const sums = plainSums(keys, events).filter(({ keyId, day, bucket }) => keyId !== keys.foreign && day === DAY && !bucket);
        const noDifferences = { drift: { rows: 0, events: 0, cost_nanos: 0n }, behind: { rows: 0, events: 0 } };
        expect(report).toMatchObject({
          events: sums.reduce((sum, { totals }) => sum + totals.events, 0),
          cost_nanos: sums.reduce((sum, { totals }) => sum + totals.cost_nanos, 0n),
          ...noDifferences,
          organizations: { count: 1, ...noDifferences },
        });
        await expectOrganizationTotals(keys, events);
      }),
      { numRuns: sized(6, 20), endOnFailure: true },
    );
    expect(crashes).toBeGreaterThan(sized(1, 5));
  });

  test('completes a day by the retry of a consumer that crashed before it wrote the day', async () => {
    const keys = newKeys();
    const events = eventsOf(keys, fc.sample(Draft, { seed: 2, numRuns: 5 }));
    for (const event of events) await put(keys, event);
    let putsLeft = new Set(events.map((event) => JSON.stringify([bucketOf(keys, event), event.model]))).size;
    const crash = (operation: string, when: string): boolean => {
      if (operation === 'put' && when === 'after') putsLeft--;
      return putsLeft <= 0;
    };
    const crashing = depsOf(unreliable(database.database, { random: () => 1, lostRequests: 0, lostReplies: 0, crash }));
    await expect(consume(crashing, keys, events)).rejects.toMatchObject({ errors: expect.arrayContaining([expect.any(Crash)]) });
    const isDay = ({ bucket }: Rollup): boolean => bucket === undefined;
    expect((await storedRollups(keys)).filter(isDay)).toEqual([]);
    await consume(depsOf(database.database), keys, events);
    expect(inOrder(await storedRollups(keys))).toEqual(inOrder(plainSums(keys, events)));
    await expectOrganizationTotals(keys, events);
  });

  test('writes the rows of other buckets if one fails, and throws the failure', async () => {
    const keys = newKeys();
    const events = eventsOf(keys, fc.sample(Draft, { seed: 3, numRuns: 12 }));
    for (const event of events) await put(keys, event);
    const [broken] = events as [UsageEvent];
    const deps = depsOf(database.database);
    const isBroken = (shard: string, startMs: number): boolean =>
      shard === bucketOf(keys, broken).shard && startMs === bucketOf(keys, broken).startMs;
    const usage: Rollups['usage'] = {
      listByBucket: (shard, startMs) => {
        if (isBroken(shard, startMs)) throw new Error('it broke');
        return deps.usage.listByBucket(shard, startMs);
      },
    };
    await expect(consume({ ...deps, usage }, keys, events)).rejects.toThrow('1 failed, the first with Error: it broke');
    const whole = events.filter((event) => !isBroken(bucketOf(keys, event).shard, bucketOf(keys, event).startMs));
    expect(inOrder(await storedRollups(keys))).toEqual(inOrder(plainSums(keys, whole)));
  });

  test('reports rollups that it could not start in time as failed', async () => {
    const keys = newKeys();
    const buckets = [0, 1, 2].map((i) => ({ shard: keys.plain, startMs: Date.parse(DAY) + i * 600_000 }));
    await expect(recompute(depsOf(database.database), buckets, () => false)).rejects.toThrow('Ran out of time before 3 of 3 items');
  });
});

describe('totals of a day whose ten minutes have expired', () => {
  test('are not replaced by those of the few buckets that are left, however many events these count', async () => {
    const keys = newKeys();
    const drafts = fc.sample(Draft, { seed: 6, numRuns: 6 }).map((draft, i) => {
      const facts = { ...draft.facts, model: 'small' as const };
      return { ...draft, facts, key: 'plain' as const, arrivedAtMs: 1_300_000 + (i % 2) * 700_000, isRatedAgain: false };
    });
    const events = eventsOf(keys, drafts);
    for (const event of events) await put(keys, event);
    await consume(depsOf(database.database), keys, events);
    const { rollups, totals } = depsOf(database.database);
    const organization = organizationOf(keys, keys.plain);
    const days = async () => [
      await Array.fromAsync(rollups.listDays(keys.plain, DAY, DAY)),
      await Array.fromAsync(totals.list({ organization, span: 'day', detail: 'model', ...rangeOf(DAY, DAY) })),
    ];
    const before = await days();
    // DynamoDB removes what has expired.
    for (const partition of [
      `rollup#${keys.plain}#${DAY}`,
      `totals#${organization}#ten_minutes#user#${DAY}`,
      `totals#${organization}#hour#user#2026-11`,
    ]) {
      const TableName = database.tables.Usage as string;
      const query = { TableName, KeyConditionExpression: 'usage_bucket = :p', ExpressionAttributeValues: { ':p': partition } };
      for (const { usage_bucket, usage_event } of (await database.database.query(query)).Items ?? [])
        await database.database.delete({ TableName, Key: { usage_bucket, usage_event } });
    }
    // Every request of one bucket is rated again, ten times.
    const [first] = events as [UsageEvent];
    const again = events
      .filter((event) => bucketOf(keys, event).startMs === bucketOf(keys, first).startMs)
      .flatMap((event) => Array.from({ length: 10 }, (_, i) => ({ ...event, request_id: `${event.request_id}#${i + 2}` })));
    for (const event of again) await put(keys, event);
    const now = () => Date.parse(DAY) + 91 * 86_400_000;
    await consume({ ...depsOf(database.database), now }, keys, again);
    expect(await days()).toEqual(before);
    await rebuild(depsOf(database.database), DAY, [{ id: keys.plain, shards: 1, organization }], now);
    const counted = (await Array.fromAsync(rollups.listDays(keys.plain, DAY, DAY))).reduce((sum, row) => sum + row.totals.events, 0);
    expect(counted).toBe(events.length + again.length);
  });
});

describe('alerts', () => {
  test('are sent for every organization of a batch after its totals, and the batch fails without them', async () => {
    const keys = newKeys();
    const events = eventsOf(keys, fc.sample(Draft, { seed: 4, numRuns: 20 }));
    for (const event of events) await put(keys, event);
    const sent: BillingTask[] = [];
    const send = async (task: BillingTask): Promise<void> => {
      await expectOrganizationTotals(keys, events);
      sent.push(task);
    };
    await consume({ ...depsOf(database.database), alerts: { send } }, keys, events);
    const own = { task: 'alert', organization: organizationOf(keys, keys.plain), keys: [keys.plain, keys.sharded].sort() };
    const foreign = { task: 'alert', organization: organizationOf(keys, keys.foreign), keys: [keys.foreign] };
    expect(sent).toHaveLength(2);
    expect(sent).toEqual(expect.arrayContaining([own, foreign]));
    const broken = { send: () => Promise.reject(new Error('the queue is away')) };
    await expect(consume({ ...depsOf(database.database), alerts: broken }, keys, events)).rejects.toThrow('the queue is away');
  });

  test('name the projects in which the requests were admitted', async () => {
    const keys = newKeys();
    const projects = ['prj_2', undefined, 'prj_1', 'prj_2'];
    const events = eventsOf(keys, fc.sample(Draft, { seed: 5, numRuns: 4 })).map((event, i) => ({
      ...event,
      org_id: organizationOf(keys, keys.plain),
      key_id: keys.plain,
      ...(projects[i] && { project_id: projects[i] }),
    }));
    for (const event of events) await put(keys, event);
    const sent: BillingTask[] = [];
    const send = async (task: BillingTask): Promise<void> => void sent.push(task);
    await consume({ ...depsOf(database.database), alerts: { send } }, keys, events);
    const [organization] = events.map(({ org_id }) => org_id);
    expect(sent).toEqual([{ task: 'alert', organization, keys: [keys.plain], projects: ['prj_1', 'prj_2'] }]);
  });
});

describe('the activity of deployments', () => {
  const AT = Date.parse(`${DAY}T12:00:00Z`);
  const eventAt = (keyId: string, atMs: number, fields: Partial<UsageEvent>): UsageEvent => ({
    request_id: newRequestId(atMs),
    key_id: keyId,
    org_id: 'org_active',
    model: 'llama',
    prompt_tokens: 1,
    cached_tokens: 0,
    completion_tokens: 1,
    source: 'runtime',
    outcome: 'completed',
    finish_reason: 'stop',
    admitted_at: atMs,
    time_to_first_token_ms: 1,
    duration_ms: 500,
    cost_nanos: 0n,
    price_version: '1',
    endpoint: 'hand-made',
    ...fields,
  });
  const USER = { user_id: '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11' };

  test('is the end of the last request to each, written once a batch, and never moves back', async () => {
    const keys = newKeys();
    const store = createActivityStore(database.database, database.tables.Deployments as string);
    const written: LastEvent[] = [];
    const activity = {
      recordLast: async (last: LastEvent): Promise<void> => {
        written.push(last);
        await store.recordLast(last);
      },
    };
    const consumeWithActivity = (batch: readonly UsageEvent[]): Promise<void> =>
      consume({ ...depsOf(database.database), activity }, keys, batch);
    const endpoint = awsNameOf('sluice', newId('deployment'), 1);
    const early = [
      eventAt(keys.plain, AT, USER),
      eventAt(keys.plain, AT + 1_000, USER),
      eventAt(keys.plain, AT + 2_000, { ...USER, model: 'qwen' }),
      eventAt(keys.plain, AT + 3_000, { model: 'shared', endpoint }),
      eventAt(keys.plain, AT + 4_000, { model: 'serverless-model' }),
    ];
    for (const event of early) await put(keys, event);
    await consumeWithActivity(early);
    expect(written).toHaveLength(3);
    const lastOf = (pool: string, name: string) => store.lastEventAt({ pool, name });
    expect(await Promise.all([lastOf('org_active', 'llama'), lastOf('org_active', 'qwen'), lastOf('serverless', 'shared')])).toEqual([
      AT + 1_500,
      AT + 2_500,
      AT + 3_500,
    ]);
    expect([await lastOf('serverless', 'serverless-model'), await lastOf('org_active', 'serverless-model')]).toEqual([
      undefined,
      undefined,
    ]);
    const late = eventAt(keys.plain, AT - 3_600_000, USER);
    await put(keys, late);
    await consumeWithActivity([late]);
    expect(await lastOf('org_active', 'llama')).toBe(AT + 1_500);
  });
});
