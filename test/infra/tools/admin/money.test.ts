import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isOrganizationLimited, type KeyItem } from '../../../../shared/admission/item/key-item.ts';
import { availableNanosOf, limitsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { DAY, Draft, eventsOf, newKeys, organizationOf, plainSums, SHARDS, shardsOfKey } from '../../../support/fixtures/usage-events.ts';
import { runAdmin } from './run-admin.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const admin = (...args: string[]) => runAdmin(database, args);

const abs = (nanos: bigint): bigint => (nanos < 0n ? -nanos : nanos);

describe('npm run admin', () => {
  test('gives the default concurrency to organizations of earlier releases, and names them', async () => {
    const organization = newId('organization');
    expect((await admin('create-key', '--org', organization, '--concurrency', '150')).code).toBe(0);
    const Key = { account: organization, record: 'organization' };
    await database.database.update({
      TableName: database.tables.Accounts as string,
      Key,
      UpdateExpression: 'SET limits.concurrency = :old REMOVE has_default_concurrency',
      ExpressionAttributeValues: { ':old': 1_000 },
    });
    const { code, stdout } = await admin('apply-default-limits');
    expect([code, stdout.split('\n').filter((line) => !line.startsWith('{'))]).toEqual([0, [organization, 'Changed 1 organizations.', '']]);
    const { Item } = await database.database.get({ TableName: database.tables.Accounts as string, Key, ConsistentRead: true });
    expect(Item).toMatchObject({ limits: { concurrency: 100 }, has_default_concurrency: true });
    expect((await admin('apply-default-limits')).stdout).toBe('Changed 0 organizations.\n');
  });

  test('rebuilds the daily totals of all keys used since that day, and reports and fails on drift', async () => {
    const keys = newKeys();
    const used = Date.parse(DAY);
    const limiters = [
      { id: keys.plain, org: organizationOf(keys, keys.plain), last_used: used + 1 },
      { id: keys.foreign, org: organizationOf(keys, keys.foreign), last_used: used + 2 },
      // A shard was used later than the key's own item.
      { id: keys.sharded, org: organizationOf(keys, keys.plain), shards: SHARDS, last_used: used - 86_400_000 },
      { id: `${keys.sharded}#1`, org: organizationOf(keys, keys.plain), last_used: used + 5 },
      { id: newId('key'), org: 'org_test', last_used: used - 86_400_000 },
      { id: newId('key'), org: 'org_test' },
      { id: 'org_test', org: 'org_test', last_used: used },
    ];
    for (const Item of limiters) await database.database.put({ TableName: database.tables.Keys as string, Item });
    const events = eventsOf(keys, fc.sample(Draft, { seed: 9, numRuns: 8 }));
    for (const event of events) await database.usage.putIfAbsent(event, shardsOfKey(keys, event.key_id));
    const ofDay = events.filter(({ admitted_at }) => admitted_at >= used);
    const rows = plainSums(keys, ofDay);
    const costNanos = ofDay.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
    const behind = { rows: 0, events: 0 };
    const none = { drift: { rows: 0, events: 0, cost_nanos: '0' }, behind };
    const totals = {
      day: DAY,
      keys: 3,
      events: ofDay.length,
      requests: ofDay.filter(({ request_id }) => !request_id.includes('#')).length,
      cost_nanos: String(costNanos),
      behind,
    };
    const first = await admin('rebuild', '--day', DAY);
    expect(first.code).toBe(1);
    const drift = rows.reduce(
      (sum, { totals: { events, cost_nanos } }) => ({ events: sum.events + events, cost: sum.cost + abs(cost_nanos) }),
      {
        events: 0,
        cost: 0n,
      },
    );
    expect(JSON.parse(first.stdout)).toEqual({
      ...totals,
      drift: { rows: rows.length, events: drift.events, cost_nanos: String(drift.cost) },
      organizations: { count: 2, drift: { rows: expect.any(Number), events: expect.any(Number), cost_nanos: expect.any(String) }, behind },
      gpu_time: { rows: 0, instance_seconds: '0', cost_nanos: '0' },
    });
    expect(JSON.parse(first.stdout).organizations.drift.rows).toBeGreaterThan(rows.length);
    const second = await admin('rebuild', '--day', DAY);
    expect(JSON.parse(second.stdout)).toEqual({
      ...totals,
      ...none,
      organizations: { count: 2, ...none },
      gpu_time: { rows: 0, instance_seconds: '0', cost_nanos: '0' },
    });
    expect(second.code).toBe(0);
  });
});

describe("an organization's limits", () => {
  test('are replaced together, and the command shows those that no longer apply', async () => {
    await admin('limit-organization', '--org', 'org_limited', '--tokens-per-minute', '9000', '--month-budget', '2.5', '--prepaid');
    const { stdout } = await admin('limit-organization', '--org', 'org_limited', '--requests-per-minute', '60', '--concurrency', '5');
    expect(stdout.trimEnd().split('\n')).toEqual([
      'Set the limits of org_limited. They apply to all of its keys.',
      '  requests per minute: 60 (was none)',
      '  tokens per minute: none (was 9000)',
      '  concurrency: 5 (was 100)',
      '  month budget: none (was 2.5)',
      '  prepaid: no (was yes)',
    ]);
  });
});

describe("an organization's money", () => {
  test('accepts limits and credit, and its balance adds up', async () => {
    const { stdout } = await admin(
      'create-key',
      '--org',
      'org_paying',
      '--day-budget',
      '0.000000005',
      '--total-budget',
      '12.5',
      '--no-content',
    );
    const [keyId = ''] = /key_\w+/.exec(stdout) ?? [];
    const itemOf = async (id: string) => (await database.limiters.get(id)) as KeyItem;
    const key = await itemOf(keyId);
    expect(key).toMatchObject({ no_content: true });
    expect(limitsOf(key)).toMatchObject({ budgets: { day: 5n, total: 12_500_000_000n } });
    expect((await admin('grant-credit', '--org', 'org_paying', '--dollars', '1', '--reason', 'r')).stderr).toContain('have never been set');
    expect((await admin('limit-organization', '--org', 'org_paying', '--month-budget', '500', '--prepaid')).stdout).toContain(
      'Set the limits of org_paying. They apply to all of its keys.\n  requests per minute: none\n  tokens per minute: none\n  concurrency: 100\n  month budget: 500 (was none)\n  prepaid: yes (was no)\n',
    );
    const limited = { budgets: { month: 500_000_000_000n }, isPrepaid: true, concurrency: 100 };
    expect(limitsOf(await itemOf('org_paying'))).toMatchObject(limited);
    expect(isOrganizationLimited(await itemOf(keyId))).toBe(true);
    expect((await admin('grant-credit', '--org', 'org_paying', '--dollars', '100.25', '--reason', 'invoice 7')).stdout).toContain(
      'Granted 100.25 of credit to org_paying (grant 1).',
    );
    const correction = ['--dollars=-0.25', '--reason', 'correction', '--actor', 'finance'];
    expect((await admin('grant-credit', '--org', 'org_paying', ...correction)).stdout).toContain(
      'Deducted 0.25 of credit from org_paying (grant 2).',
    );
    const { stdout: balance, code } = await admin('balance', '--org', 'org_paying');
    expect(JSON.parse(balance)).toEqual({
      organization: 'org_paying',
      grants: 2,
      granted: '100',
      spent: '0',
      held: '0',
      available: '100',
      left: [{ grant: 1, amount: '100' }],
      drift: '0',
    });
    expect(code).toBe(0);
    // New limits without them remove the budget and prepayment; granted credit stays.
    await admin('limit-organization', '--org', 'org_paying', '--requests-per-minute', '5');
    const item = await itemOf('org_paying');
    expect(availableNanosOf(item)).toBe(100_000_000_000n);
    const unlimited = { tokensPerMinute: Number.POSITIVE_INFINITY, concurrency: 100, budgets: {}, isPrepaid: false };
    expect(limitsOf(item)).toEqual({ ...unlimited, requestsPerMinute: 5 });
  });

  test.each([
    [['limit-organization'], '--org is missing'],
    [['grant-credit', '--org', 'o', '--dollars', '1e3', '--reason', 'r'], '--dollars expects dollars'],
    [['grant-credit', '--org', 'o', '--dollars', '1'], 'reason'],
    [['create-key', '--org', 'o', '--day-budget', '0.0000000001'], '--day-budget expects dollars'],
  ])('%j is rejected: %s', async (args, words) => {
    const { code, stderr } = await admin(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(words);
  });
});
