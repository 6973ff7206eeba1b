import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NO_MODEL, type Rollups, recompute } from '../../../../../functions/rollup/rollup.ts';
import { rebuild } from '../../../../../infra/tools/admin/rebuild/rebuild-totals.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';
import { coarsened } from '../../../../../shared/usage/histogram.ts';
import { StoredHistogram } from '../../../../../shared/usage/stored-histogram.ts';
import { noTotals } from '../../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';
import { plainOrganizationSums, rangeOf, sorted, VIEWS } from '../../../../support/fixtures/organization-sums.ts';
import { rollupStores } from '../../../../support/fixtures/rollups.ts';
import {
  bucketOf,
  DAY,
  Draft,
  eventsOf,
  inOrder,
  MAX_TEST_USERS,
  newKeys,
  organizationOf,
  plainSums,
  SHARDS,
  shardsOfKey,
  type TestKeys,
} from '../../../../support/fixtures/usage-events.ts';

let database: TestDatabase;
let deps: Rollups;
let table: string;
beforeAll(async () => {
  database = await startTestDatabase();
  table = database.tables.Usage as string;
  deps = rollupStores(database.database, table, MAX_TEST_USERS);
});
afterAll(async () => {
  await database.close();
});

type Item = Record<string, unknown>;

// Long after the events of the tests.
const later = (): number => Date.parse(DAY) + 48 * 3_600_000;
const noDrift = { drift: { rows: 0, events: 0, cost_nanos: 0n }, behind: { rows: 0, events: 0 } };

const consume = (keys: TestKeys, events: readonly UsageEvent[]): Promise<void> =>
  recompute(
    deps,
    events.map((event) => bucketOf(keys, event)),
  );

// The events are in two shards of one day.
const setUp = async () => {
  const keys = newKeys();
  const drafts = fc.sample(Draft, { seed: 7, numRuns: 12 });
  const events = eventsOf(
    keys,
    drafts.map((draft) => ({ ...draft, key: 'sharded' as const, arrivedAtMs: 1_300_000 + (draft.arrivedAtMs % 1_000_000) })),
  );
  for (const event of events) await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
  await consume(keys, events);
  const run = (now = later, shards = SHARDS) =>
    rebuild(deps, DAY, [{ id: keys.sharded, shards, organization: organizationOf(keys, keys.sharded) }], now);
  const rows = async (): Promise<Item[]> => {
    const partitions = [`rollup#${keys.sharded}#${DAY}`, `day#${keys.sharded}`].map(async (partition) => {
      const query = { TableName: table, KeyConditionExpression: 'usage_bucket = :p', ExpressionAttributeValues: { ':p': partition } };
      return (await database.database.query(query)).Items ?? [];
    });
    return (await Promise.all(partitions)).flat();
  };
  return { keys, events, run, rows, sums: plainSums(keys, events) };
};

const abs = (value: bigint): bigint => (value < 0n ? -value : value);
const keyOf = ({ usage_bucket, usage_event }: Item) => ({ usage_bucket, usage_event });
const change = (row: Item, expression: string, value: unknown): Promise<unknown> =>
  database.database.update({
    TableName: table,
    Key: keyOf(row),
    UpdateExpression: expression,
    ExpressionAttributeValues: { ':value': value },
  });

// Earlier versions stored latencies in a map of 8 buckets an octave, and no sums of times.
const ofEarlierVersion = (row: Item): Item => {
  const { duration_ms_sum: _, prompt_ms_sum: ____, generation_ms_sum: __, generation_tokens: ___, ...earlier } = row;
  const inMap = (name: string) => Object.fromEntries(coarsened(StoredHistogram.parse(row[name]), 3).counts);
  return { ...earlier, duration_ms: inMap('duration_ms'), time_to_first_token_ms: inMap('time_to_first_token_ms') };
};

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
      organizations: { count: 1, ...noDrift },
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
      cost_nanos: 5n + abs(costOf(missing)) + abs(costOf(unreadable)) + 7n + abs(costOf(wrongCost)),
    });
    expect(behind).toEqual({ rows: 0, events: 0 });
    expect(await rows()).toEqual(before);
    expect(await run()).toMatchObject(noDrift);
  });

  test('brings rows of earlier versions up to date, which is no drift, unless they are wrong', async () => {
    const { run, rows } = await setUp();
    const before = await rows();
    const [wrong, ...others] = before as [Item, ...Item[]];
    for (const row of before) await database.database.put({ TableName: table, Item: ofEarlierVersion(row) });
    // A day that began with an earlier version: its latencies are those of both, its sums are of some events only.
    await database.database.put({ TableName: table, Item: { ...ofEarlierVersion(others.at(-1) as Item), duration_ms_sum: 1 } });
    await change(wrong, 'SET cost_nanos = cost_nanos + :value', 5);
    const { drift, organizations } = await run();
    expect(drift).toEqual({ rows: 1, events: 0, cost_nanos: 5n });
    expect(organizations).toMatchObject(noDrift);
    expect(await rows()).toEqual(before);
    expect(before.length).toBeGreaterThan(2);
  });

  test('adds the times of prompts to rows of an earlier version, which is no drift', async () => {
    const { keys, events, run, rows } = await setUp();
    const [event] = events as [UsageEvent];
    const timed: UsageEvent = {
      ...event,
      request_id: event.request_id.slice(0, -6) + newId('key').slice(-6),
      completion_tokens: 5,
      time_to_first_token_ms: 300,
      duration_ms: 500,
      step_ends_ms: [1, 2, 3, 4, 100, 490],
    };
    await database.usage.putIfAbsent(timed, shardsOfKey(keys, timed.key_id));
    await run();
    const before = await rows();
    const day = before.find(({ prompt_ms_sum }) => Number(prompt_ms_sum) > 0) as Item;
    await change(day, 'SET prompt_ms_sum = :value', 0);
    expect(await run()).toMatchObject(noDrift);
    expect(await rows()).toEqual(before);
    await change(day, 'SET prompt_ms_sum = :value', 1_000_000);
    expect((await run()).drift.rows).toBe(1);
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
    expect(
      await rebuild(
        { ...deps, usage },
        DAY,
        [{ id: keys.sharded, shards: SHARDS, organization: organizationOf(keys, keys.sharded) }],
        later,
      ),
    ).toMatchObject({ drift: { rows: 1 } });
    const sums = plainSums(keys, [...events, late]).filter(({ bucket }) => !bucket);
    expect(inOrder(await Array.fromAsync(deps.rollups.listDays(keys.sharded, DAY, DAY)))).toEqual(inOrder(sums));
  });
});

describe('rebuild of an organization', () => {
  const RANGE = rangeOf(DAY, DAY);

  /** The organization's rows of the day in every span and detail. */
  const setUpOrganization = async () => {
    const { keys, events, run } = await setUp();
    const organization = organizationOf(keys, keys.sharded);
    const rows = async (): Promise<Item[]> => {
      const partitions = VIEWS.map(async ({ span, detail }) => {
        const period = span === 'day' ? '2026' : span === 'hour' ? '2026-11' : DAY;
        const values = { ':p': `totals#${organization}#${span}#${detail}#${period}` };
        const query = { TableName: table, KeyConditionExpression: 'usage_bucket = :p', ExpressionAttributeValues: values };
        return (await database.database.query(query)).Items ?? [];
      });
      return (await Promise.all(partitions)).flat();
    };
    const expectTotals = async (of: readonly UsageEvent[] = events): Promise<void> => {
      for (const view of VIEWS)
        expect(sorted(await Array.fromAsync(deps.totals.list({ organization, ...view, ...RANGE })))).toEqual(
          plainOrganizationSums(of, { organization, ...view }, MAX_TEST_USERS),
        );
    };
    return { keys, events, organization, run, rows, expectTotals };
  };

  test('writes nothing if the totals are correct', async () => {
    const { run, rows, expectTotals } = await setUpOrganization();
    await expectTotals();
    const before = await rows();
    expect(await run()).toMatchObject({ organizations: { count: 1, ...noDrift } });
    expect(await rows()).toEqual(before);
  });

  test('reports one damaged row of each span and detail, and corrects it', async () => {
    const { run, rows, expectTotals } = await setUpOrganization();
    const before = await rows();
    const damaged = [...Map.groupBy(before, ({ usage_bucket }) => usage_bucket).values()].map(([row]) => row as Item);
    expect(damaged).toHaveLength(VIEWS.length);
    for (const row of damaged) await change(row, 'SET cost_nanos = cost_nanos + :value', 5);
    expect((await run()).organizations).toEqual({
      count: 1,
      drift: { rows: VIEWS.length, events: 0, cost_nanos: 5n * BigInt(VIEWS.length) },
      behind: { rows: 0, events: 0 },
    });
    expect(await rows()).toEqual(before);
    await expectTotals();
    expect(await run()).toMatchObject({ organizations: noDrift });
  });

  test('recreates missing rows, and removes rows without events', async () => {
    const { organization, run, rows, expectTotals } = await setUpOrganization();
    const before = await rows();
    for (const row of before) await database.database.delete({ TableName: table, Key: keyOf(row) });
    for (const view of VIEWS)
      await deps.totals.put({
        ...{ organization, ...view, startMs: RANGE.fromMs, model: 'ghost', route: null, deployment: null },
        totals: { ...noTotals(), events: 3, cost_nanos: 2n },
      });
    const { drift } = (await run()).organizations;
    expect(drift.rows).toBe(before.length + VIEWS.length);
    const sum = (of: (row: Item) => number | bigint) => before.reduce((all, row) => all + abs(BigInt(of(row))), 0n);
    expect(drift.events).toBe(3 * VIEWS.length + Number(sum(({ n }) => n as number)));
    expect(drift.cost_nanos).toBe(2n * BigInt(VIEWS.length) + sum(({ cost_nanos }) => cost_nanos as bigint));
    await expectTotals();
    expect(await run()).toMatchObject({ organizations: noDrift });
  });

  test('removes rows of users who now count as (other), and reports no drift', async () => {
    const { keys, events, run, rows, expectTotals } = await setUpOrganization();
    const [first] = events as [UsageEvent];
    const names = ['dan', 'cid', 'bob', 'ann', 'aaa'];
    const more = names.map((user, i): UsageEvent => {
      const { user_id: _, ...event } = first;
      return { ...event, user, request_id: event.request_id.slice(0, -6) + newId('key').slice(-6), cost_nanos: BigInt(i) };
    });
    // One after the other, so that later names have rows before earlier ones come.
    for (const event of more) {
      await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
      await consume(keys, [event]);
    }
    await expectTotals([...events, ...more]);
    const before = await rows();
    expect(await run()).toMatchObject({ organizations: noDrift });
    expect((await rows()).length).toBeLessThan(before.length);
    await expectTotals([...events, ...more]);
  });

  test('reports rows that lack only the latest events as behind, and updates them', async () => {
    const { keys, events, run, expectTotals } = await setUpOrganization();
    const [event] = events as [UsageEvent];
    const young = { ...event, request_id: event.request_id.slice(0, -6) + newId('key').slice(-6) };
    await database.usage.putIfAbsent(young, shardsOfKey(keys, young.key_id));
    const { organizations } = await run(() => young.admitted_at + young.duration_ms + 60_000);
    // A row in each span and detail.
    expect(organizations).toMatchObject({ drift: { rows: 0 }, behind: { rows: VIEWS.length, events: VIEWS.length } });
    await expectTotals([...events, young]);
  });

  test('leaves out what has expired: after 90 days, it corrects totals of the day from its events alone', async () => {
    const { keys, run, rows } = await setUpOrganization();
    const before = await rows();
    const isDay = ({ usage_bucket }: Item): boolean => String(usage_bucket).includes('#day#');
    for (const row of before) {
      if (isDay(row)) await change(row, 'SET cost_nanos = cost_nanos + :value', 5);
      else await database.database.delete({ TableName: table, Key: keyOf(row) });
    }
    const late = () => Date.parse(DAY) + 91 * 86_400_000;
    // The key has only one shard by now.
    const report = await run(late, 1);
    expect(report.drift.rows).toBe(0);
    expect(report.organizations.drift.rows).toBe(before.filter(isDay).length);
    expect(await rows()).toEqual(before.filter(isDay));
    expect(await Array.fromAsync(deps.rollups.listDays(keys.sharded, DAY, DAY))).not.toEqual([]);
  });
});
