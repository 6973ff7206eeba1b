import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Database } from '../../../shared/database/database.ts';
import {
  createRefusalStore,
  isRefusalOf,
  type RefusalCount,
  type RefusalStore,
  type RefusedRequest,
  TooManyLines,
} from '../../../shared/observability/refusal-store.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

let database: TestDatabase;
let table: string;
let store: RefusalStore;
beforeAll(async () => {
  database = await startTestDatabase();
  table = database.tables.Observability as string;
  store = createRefusalStore(database.database, table);
});
afterAll(async () => {
  await database.close();
});

const AT = Date.parse('2026-11-23T16:43Z');
let lines = 0;
const refusalOf = (organization: string | null, fields: Partial<RefusedRequest> = {}): RefusedRequest => ({
  lineId: String(lines++),
  organization,
  keyId: organization && 'key_1',
  code: 'rate_limit_exceeded',
  ...fields,
});
const refusalsOf = (organization: string, count: number): RefusedRequest[] => Array.from({ length: count }, () => refusalOf(organization));

const count = (refusals: readonly RefusedRequest[], startMs = AT, stream = 'inference/1') => store.count({ stream, startMs }, refusals);
const list = (organization: string | null, fromMs = AT, toMs = AT + MINUTE_MS): Promise<RefusalCount[]> =>
  Array.fromAsync(store.list({ organization, fromMs, toMs }));
const sumOf = async (organization: string | null, fromMs = AT, toMs = AT + MINUTE_MS): Promise<number> =>
  (await list(organization, fromMs, toMs)).reduce((sum, { count: n }) => sum + n, 0);

describe('refused requests', () => {
  test('are counted by organization, key, code and minute', async () => {
    const [one, other] = [newId('organization'), newId('organization')];
    await count([...refusalsOf(one, 3), refusalOf(one, { keyId: 'key_2' }), refusalOf(one, { code: 'invalid_value' }), refusalOf(other)]);
    await count(refusalsOf(one, 2), AT + MINUTE_MS);
    const of = (keyId: string, code: string, n: number, startMs = AT) => ({ startMs, keyId, code, count: n });
    expect(await list(one, AT, AT + 2 * MINUTE_MS)).toEqual([
      of('key_1', 'invalid_value', 1),
      of('key_1', 'rate_limit_exceeded', 3),
      of('key_1', 'rate_limit_exceeded', 2, AT + MINUTE_MS),
      of('key_2', 'rate_limit_exceeded', 1),
    ]);
    expect(await list(other)).toEqual([of('key_1', 'rate_limit_exceeded', 1)]);
  });

  test('are in partitions that are found by their organization', async () => {
    const organization = newId('organization');
    const accounts: string[] = [];
    const transactWrite: Database['transactWrite'] = async (input) => {
      accounts.push(...input.TransactItems.flatMap(({ Update }) => (Update ? [String(Update.Key.account)] : [])));
      await database.database.transactWrite(input);
    };
    await createRefusalStore({ ...database.database, transactWrite }, table).count(
      { stream: 'a', startMs: AT },
      refusalsOf(organization, 2),
    );
    expect(accounts.map((account) => isRefusalOf(organization, account))).toEqual([true]);
    expect(accounts.map((account) => isRefusalOf(organization.slice(0, -1), account))).toEqual([false]);
  });

  test('are counted for the platform if they have no authenticated key', async () => {
    const startMs = Date.parse('2026-11-01T00:00Z');
    await count([refusalOf(null, { code: 'invalid_api_key' })], startMs);
    expect(await list(null, startMs, startMs + MINUTE_MS)).toEqual([{ startMs, keyId: null, code: 'invalid_api_key', count: 1 }]);
  });

  test.each([
    ['the start of a day', '2026-11-24T00:00Z'],
    ['the end of a day', '2026-11-23T23:59Z'],
    ['the middle of a day', '2026-11-23T12:35Z'],
  ])('at %s are listed from the first to before the last minute of a range', async (_, time) => {
    const organization = newId('organization');
    const startMs = Date.parse(time);
    for (const ms of [startMs - MINUTE_MS, startMs, startMs + MINUTE_MS]) await count(refusalsOf(organization, 1), ms);
    expect((await list(organization, startMs, startMs + MINUTE_MS)).map((found) => found.startMs)).toEqual([startMs]);
    expect(await sumOf(organization, startMs - MINUTE_MS, startMs + 2 * MINUTE_MS)).toBe(3);
    expect(await sumOf(organization, startMs - 5 * 86_400_000, startMs + 5 * 86_400_000)).toBe(3);
  });

  test('are counted once when their lines are delivered again, in other batches and at the same time', async () => {
    const organization = newId('organization');
    const all = refusalsOf(organization, 60);
    const stream = newId('key');
    await count(all.slice(0, 20), AT, stream);
    const again = await Promise.all([all.slice(10, 40), all.slice(30, 60), all, all].map((batch) => count(batch, AT, stream)));
    expect(again.reduce((sum, n) => sum + n, 0)).toBe(40);
    expect(await count(all, AT, stream)).toBe(0);
    expect(await sumOf(organization)).toBe(60);
  });

  test('are counted once when the reply of the database is lost', async () => {
    const organization = newId('organization');
    const losing: Database = {
      ...database.database,
      transactWrite: async (input) => {
        await database.database.transactWrite(input);
        throw new Error('The reply was lost.');
      },
    };
    const batch = refusalsOf(organization, 5);
    const at = { stream: newId('key'), startMs: AT };
    await expect(createRefusalStore(losing, table).count(at, batch)).rejects.toThrow('lost');
    expect(await store.count(at, batch)).toBe(0);
    expect(await sumOf(organization)).toBe(5);
  });

  test('are all counted for more keys than a transaction can write', async () => {
    const organization = newId('organization');
    const keys = Array.from({ length: 250 }, (_, i) => refusalOf(organization, { keyId: `key_${i}` }));
    expect(await count([...keys, ...keys.slice(0, 10)], AT, newId('key'))).toBe(250);
    expect(await list(organization)).toHaveLength(250);
  });

  test('are all counted in many concurrent log streams', async () => {
    const organization = newId('organization');
    await Promise.all(Array.from({ length: 40 }, () => count(refusalsOf(organization, 10), AT, newId('key'))));
    expect(await sumOf(organization)).toBe(400);
  });

  test('are left out with an error beyond the lines that a row can list for a minute', async () => {
    const organization = newId('organization');
    await expect(count(refusalsOf(organization, 40_001), AT, newId('key'))).rejects.toThrow(TooManyLines);
    expect(await list(organization)).toEqual([]);
  });

  test('are kept for 90 days after their day', async () => {
    const organization = newId('organization');
    await count(refusalsOf(organization, 1));
    const { Items = [] } = await database.database.query({
      TableName: table,
      KeyConditionExpression: 'account = :account',
      ExpressionAttributeValues: { ':account': `refusals#${organization}#2026-11-23` },
    });
    expect(Items).toMatchObject([{ m3: 1, expires_at: Date.parse('2027-02-22') / 1_000 }]);
  });
});
