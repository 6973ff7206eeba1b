import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../shared/database/database.ts';
import type { OrganizationTotals, TotalsQuery, TotalsSpan } from '../../../shared/usage/organization-totals.ts';
import {
  createOrganizationTotalsStore,
  type OrganizationTotalsStore,
  type TotalsRow,
} from '../../../shared/usage/organization-totals-store.ts';
import { noTotals, type Totals } from '../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const MAX_USERS = 3;
let database: TestDatabase;
let table: string;
let store: OrganizationTotalsStore;
beforeAll(async () => {
  database = await startTestDatabase();
  table = database.tables.Usage as string;
  store = createOrganizationTotalsStore(database.database, table, MAX_USERS);
});
afterAll(async () => {
  await database.close();
});

const totalsOf = (events: number): Totals => ({ ...noTotals(), events, requests: events, cost_nanos: BigInt(events) * 10n ** 18n });
const rowOf = (organization: string, span: TotalsSpan, start: string, fields: Partial<TotalsRow> = {}): TotalsRow => ({
  organization,
  span,
  detail: 'model',
  startMs: Date.parse(start),
  model: 'small',
  route: 'chat.completions',
  deployment: null,
  totals: totalsOf(1),
  ...fields,
});
const userRow = (organization: string, userId: string | null, events: number, fields: Partial<TotalsRow> = {}): TotalsRow =>
  rowOf(organization, 'ten_minutes', '2026-11-21T16:40Z', {
    detail: 'user',
    keyId: 'key_1',
    shard: 'key_1',
    userId,
    totals: totalsOf(events),
    ...fields,
  });

const list = (query: Omit<TotalsQuery, 'fromMs' | 'toMs'>, from: string, to: string): Promise<OrganizationTotals[]> =>
  Array.fromAsync(store.list({ ...query, fromMs: Date.parse(from), toMs: Date.parse(to) }));
const starts = (totals: readonly OrganizationTotals[]): string[] => totals.map(({ startMs }) => new Date(startMs).toISOString());

const itemsOf = async (partition: string) => {
  const query = { TableName: table, KeyConditionExpression: 'usage_bucket = :p', ExpressionAttributeValues: { ':p': partition } };
  return (await database.database.query(query)).Items ?? [];
};

describe('the totals of an organization', () => {
  test.each<[TotalsSpan, string[]]>([
    ['minute', ['2026-11-30T23:59Z', '2026-12-01T00:00Z', '2026-12-01T00:01Z']],
    ['ten_minutes', ['2026-11-30T23:50Z', '2026-12-01T00:00Z', '2026-12-01T00:10Z']],
    ['hour', ['2026-11-30T23:00Z', '2026-12-01T00:00Z', '2026-12-01T01:00Z']],
    ['day', ['2026-12-31T00:00Z', '2027-01-01T00:00Z', '2027-01-02T00:00Z']],
  ])('are listed by %s from a start to an exclusive end, in the order of time, across partitions', async (span, times) => {
    const organization = newId('organization');
    for (const time of times.toReversed()) await store.put(rowOf(organization, span, time));
    const [first, second, third] = times as [string, string, string];
    const of = { organization, span, detail: 'model' as const };
    const iso = (time: string) => new Date(time).toISOString();
    expect(starts(await list(of, first, third))).toEqual([iso(first), iso(second)]);
    expect(starts(await list(of, '2026-01-01', '2027-12-31'))).toEqual(times.map(iso));
    const aMomentLater = new Date(Date.parse(first) + 1).toISOString();
    expect(starts(await list(of, aMomentLater, third))).toEqual([iso(second)]);
    expect(await list({ ...of, detail: 'key' }, '2026-01-01', '2027-12-31')).toEqual([]);
  });

  test('are the same after they are stored and read, whatever their names contain', async () => {
    const organization = newId('organization');
    const rows = [
      rowOf(organization, 'day', '2026-11-21', { model: 'with#hash' }),
      rowOf(organization, 'day', '2026-11-21', { model: null, route: null }),
      rowOf(organization, 'day', '2026-11-21', { model: 'm'.repeat(1_000), deployment: 'dep_1' }),
    ];
    for (const row of rows) await store.put(row);
    const stored = await list({ organization, span: 'day', detail: 'model' }, '2026-11-21', '2026-11-22');
    expect(stored).toHaveLength(3);
    for (const { span: _, detail: __, ...row } of rows) expect(stored).toContainEqual(row);
  });

  test('are only replaced by totals of more events', async () => {
    const organization = newId('organization');
    const of = { organization, span: 'day', detail: 'model' } as const;
    const put = (events: number) => store.put(rowOf(organization, 'day', '2026-11-21', { totals: totalsOf(events) }));
    expect([await put(2), await put(2), await put(1), await put(3)]).toEqual([true, false, false, true]);
    const [row] = await list(of, '2026-11-21', '2026-11-22');
    expect(row?.totals).toEqual(totalsOf(3));
  });

  test('expire after 7 days by minute, after 90 by ten minutes and hour, and never by day', async () => {
    const organization = newId('organization');
    const start = '2026-11-21T00:00Z';
    const expiryOf = async (span: TotalsSpan, period: string): Promise<unknown> => {
      await store.put(rowOf(organization, span, start));
      const [item] = await itemsOf(`totals#${organization}#${span}#model#${period}`);
      expect(item).toBeDefined();
      return item?.expires_at;
    };
    expect(await expiryOf('minute', '2026-11-21')).toBe(Date.parse('2026-11-28T00:01Z') / 1_000);
    expect(await expiryOf('ten_minutes', '2026-11-21')).toBe(Date.parse('2027-02-19T00:10Z') / 1_000);
    expect(await expiryOf('hour', '2026-11')).toBe(Date.parse('2027-02-19T01:00Z') / 1_000);
    expect(await expiryOf('day', '2026')).toBeUndefined();
  });

  test('sum the shards of a key by user, and leave out users who count as (other) by now', async () => {
    const organization = newId('organization');
    await store.put(userRow(organization, 'ann', 1));
    await store.put(userRow(organization, 'ann', 2, { shard: 'key_1#1' }));
    await store.put(userRow(organization, null, 4));
    // Zoe had a row until a third user with an earlier name came.
    await store.put(userRow(organization, 'zoe', 8));
    await store.put(userRow(organization, '(other)', 9, { lastUser: 'cid' }));
    // Another shard has fewer users, so Zoe has a row there.
    await store.put(userRow(organization, 'zoe', 16, { shard: 'key_1#1' }));
    const of = { organization, span: 'ten_minutes', detail: 'user' } as const;
    const events = (totals: readonly OrganizationTotals[]) => Object.fromEntries(totals.map((each) => [each.userId, each.totals.events]));
    expect(events(await list(of, '2026-11-21', '2026-11-22'))).toEqual({ ann: 3, null: 4, '(other)': 9, zoe: 16 });
    const [fromMs, toMs] = [Date.parse('2026-11-21'), Date.parse('2026-11-22')];
    const rows = await store.listRows({ ...of, fromMs, toMs });
    expect(rows.filter(({ isFolded }) => isFolded).map(({ n }) => n)).toEqual([8]);
    // With two users more, the shards have more users together than a span can have.
    await store.put(userRow(organization, 'bob', 32));
    await store.put(userRow(organization, 'cid', 64));
    expect(events(await list(of, '2026-11-21', '2026-11-22'))).toEqual({ ann: 3, bob: 32, cid: 64, null: 4, '(other)': 25 });
  });

  test('take one query of a few rows for a month by day, however many events there were', async () => {
    const organization = newId('organization');
    const models = ['small', 'large', 'embedding', 'rerank'];
    for (let day = 1; day <= 30; day++)
      for (const model of models)
        await store.put(rowOf(organization, 'day', `2026-11-${String(day).padStart(2, '0')}`, { model, totals: totalsOf(1_000_000) }));
    let [queries, read] = [0, 0];
    const counting: Database = {
      ...database.database,
      query: async (input) => {
        queries++;
        const output = await database.database.query(input);
        read += output.Items?.length ?? 0;
        return output;
      },
    };
    const [fromMs, toMs] = [Date.parse('2026-11-01'), Date.parse('2026-12-01')];
    const list = createOrganizationTotalsStore(counting, table).list({ organization, span: 'day', detail: 'model', fromMs, toMs });
    const events = (await Array.fromAsync(list)).reduce((sum, { totals }) => sum + totals.events, 0);
    expect({ queries, read, events }).toEqual({ queries: 1, read: 30 * models.length, events: 120_000_000 });
  });
});
