import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NO_MODEL, type Rollups, recompute } from '../../../functions/rollup/rollup.ts';
import { rebuild } from '../../../infra/admin/rebuild-totals.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/database.ts';
import { newId } from '../../support/new-id.ts';
import {
  bucketOf,
  DAY,
  Draft,
  eventsOf,
  inOrder,
  newKeys,
  plainSums,
  SHARDS,
  shardsOfKey,
  type TestKeys,
} from '../../support/usage-events.ts';

let database: TestDatabase;
let deps: Rollups;
let table: string;
beforeAll(async () => {
  database = await startTestDatabase();
  table = database.tables.Usage as string;
  deps = { usage: database.usage, rollups: createRollupStore(database.database, table) };
});
afterAll(async () => {
  await database.close();
});

type Item = Record<string, unknown>;

/** Long after the events of the tests. */
const later = (): number => Date.parse(DAY) + 48 * 3_600_000;
const noDrift = { drift: { rows: 0, events: 0, cost_nanos: 0n }, behind: { rows: 0, events: 0 } };

const consume = (keys: TestKeys, events: readonly UsageEvent[]): Promise<void> =>
  recompute(
    deps,
    events.map((event) => bucketOf(keys, event)),
  );

/** Stores events of the sharded key, in two shards within one day. */
const setUp = async () => {
  const keys = newKeys();
  const drafts = fc.sample(Draft, { seed: 7, numRuns: 12 });
  const events = eventsOf(
    keys,
    drafts.map((draft) => ({ ...draft, isSharded: true, arrivedAtMs: 1_300_000 + (draft.arrivedAtMs % 1_000_000) })),
  );
  for (const event of events) await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
  await consume(keys, events);
  const run = (now = later, shards = SHARDS) => rebuild(deps, DAY, [{ id: keys.sharded, shards }], now);
  const rows = async (): Promise<Item[]> => {
    const partitions = [`rollup#${keys.sharded}#${DAY}`, `day#${keys.sharded}`].map(async (partition) => {
      const query = { TableName: table, KeyConditionExpression: 'usage_bucket = :p', ExpressionAttributeValues: { ':p': partition } };
      return (await database.database.query(query)).Items ?? [];
    });
    return (await Promise.all(partitions)).flat();
  };
  return { keys, events, run, rows, sums: plainSums(keys, events) };
};

const keyOf = ({ usage_bucket, usage_event }: Item) => ({ usage_bucket, usage_event });
const change = (row: Item, expression: string, value: unknown): Promise<unknown> =>
  database.database.update({
    TableName: table,
    Key: keyOf(row),
    UpdateExpression: expression,
    ExpressionAttributeValues: { ':value': value },
  });

describe('rebuild', () => {
  test('reports the sum of the events and no drift, and writes nothing, if the totals are correct', async () => {
    const { events, run, rows } = await setUp();
    const before = await rows();
    expect(await run()).toEqual({
      day: DAY,
      keys: 1,
      events: events.length,
      requests: events.filter(({ request_id }) => !request_id.includes('#')).length,
      cost_nanos: events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n),
      ...noDrift,
    });
    expect(await rows()).toEqual(before);
  });

  test('reports damaged rows and corrects them', async () => {
    const { run, rows } = await setUp();
    const before = await rows();
    const [wrongCost, tooMany, missing, unreadable, wrongDay] = [...before.slice(0, 4), before.at(-1)] as [Item, Item, Item, Item, Item];
    await change(wrongCost, 'SET cost_nanos = cost_nanos + :value', 5);
    await change(tooMany, 'SET n = n + :value', 100);
    await database.database.delete({ TableName: table, Key: keyOf(missing) });
    await change(unreadable, 'SET outcomes = :value', 'many');
    await change(wrongDay, 'SET cost_nanos = cost_nanos - :value', 7);
    const ghost = { ...wrongCost, usage_event: `03:10#${String(wrongCost.usage_event).slice(6)}` };
    await database.database.put({ TableName: table, Item: ghost });

    const { drift, behind } = await run();
    const costOf = (row: Item): bigint => BigInt(row.cost_nanos as bigint);
    expect(drift).toEqual({
      rows: 6,
      events: 100 + (missing.n as number) + (wrongCost.n as number),
      // The unreadable row counts as cost 0. The ghost is a copy of the first row from before it was damaged.
      cost_nanos: 5n + costOf(missing) + costOf(unreadable) + 7n + costOf(wrongCost),
    });
    expect(behind).toEqual({ rows: 0, events: 0 });
    expect(await rows()).toEqual(before);
    expect(await run()).toMatchObject(noDrift);
  });

  test('recreates missing totals, including those of former shards that remaining rows still name', async () => {
    const { run, rows } = await setUp();
    const before = await rows();
    const dayRows = before.filter(({ usage_bucket }) => String(usage_bucket).startsWith('day#'));
    for (const row of dayRows) await database.database.delete({ TableName: table, Key: keyOf(row) });
    expect((await run(later, 1)).drift.rows).toBe(dayRows.length);
    expect(await rows()).toEqual(before);
    for (const row of before) await database.database.delete({ TableName: table, Key: keyOf(row) });
    expect((await run()).drift.rows).toBe(before.length);
    expect(await rows()).toEqual(before);
  });

  test('reports rows that lack only the latest events as behind, and updates them', async () => {
    const { keys, events, run } = await setUp();
    const [event] = events as [UsageEvent];
    const young = { ...event, request_id: event.request_id.slice(0, -6) + newId('key').slice(-6), cost_nanos: 3n };
    await database.usage.putIfAbsent(young, shardsOfKey(keys, young.key_id));
    const report = await run(() => young.admitted_at + young.duration_ms + 60_000);
    // Its ten-minute row and its daily row.
    expect(report).toMatchObject({ events: events.length + 1, drift: { rows: 0 }, behind: { rows: 2, events: 2 } });
    expect(await run()).toMatchObject(noDrift);

    const old = { ...young, request_id: `${event.request_id.slice(0, -6)}${newId('key').slice(-6)}` };
    await database.usage.putIfAbsent(old, shardsOfKey(keys, old.key_id));
    expect(await run()).toMatchObject({ drift: { rows: 2, events: 2, cost_nanos: 6n }, behind: { rows: 0 } });
  });

  test('does not replace a row that a consumer has updated in the meantime', async () => {
    const { keys, events } = await setUp();
    const [event] = events as [UsageEvent];
    const late = { ...event, request_id: event.request_id.slice(0, -6) + newId('key').slice(-6) };
    const model = late.model ?? NO_MODEL;
    await change({ usage_bucket: `day#${keys.sharded}`, usage_event: `${DAY}#${model}` }, 'SET cost_nanos = :value', 1);
    // The event arrives and is rolled up after the rows were read and before they are replaced.
    const usage: Rollups['usage'] = {
      listByBucket: async function* (shard, startMs) {
        yield* database.usage.listByBucket(shard, startMs);
        if (shard !== bucketOf(keys, late).shard || startMs !== bucketOf(keys, late).startMs) return;
        await database.usage.putIfAbsent(late, shardsOfKey(keys, late.key_id));
        await consume(keys, [late]);
      },
    };
    expect(await rebuild({ ...deps, usage }, DAY, [{ id: keys.sharded, shards: SHARDS }], later)).toMatchObject({ drift: { rows: 1 } });
    const sums = plainSums(keys, [...events, late]).filter(({ bucket }) => !bucket);
    expect(inOrder(await Array.fromAsync(deps.rollups.listDays(keys.sharded, DAY, DAY)))).toEqual(inOrder(sums));
  });
});
