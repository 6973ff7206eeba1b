import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NewApiKey } from '../../../../../functions/control/api-keys/api-key.ts';
import { createPlaygroundKey } from '../../../../../functions/control/api-keys/playground-key.ts';
import { OrganizationLimits } from '../../../../../functions/control/limits/limits.ts';
import { createOrganization } from '../../../../../functions/control/organizations/create-organization.ts';
import { createOperatorKey, grantByOperator, limitByOperator, operatorOrigin } from '../../../../../infra/tools/admin/accounts.ts';
import { type AllDependencies, rebuildAll, wasWrong } from '../../../../../infra/tools/admin/rebuild/rebuild-all.ts';
import type { KeyItem } from '../../../../../shared/admission/item/key-item.ts';
import { type LimiterItem, moneyCountersAt } from '../../../../../shared/admission/item/limiter-item.ts';
import { storedEntry } from '../../../../../shared/admission/item/reservation-entry.ts';
import { parseSecret } from '../../../../../shared/admission/item/secret.ts';
import { createCreditStore } from '../../../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../../../shared/database/record-table.ts';
import { transact } from '../../../../../shared/database/transaction.ts';
import { createDeploymentStore } from '../../../../../shared/deployments/deployment-store.ts';
import { sameHash } from '../../../../../shared/ids/checked-secret.ts';
import { newRequestId } from '../../../../../shared/ids/request-id.ts';
import { DAY_MS, HOUR_MS } from '../../../../../shared/time/units.ts';
import type { UsageEvent } from '../../../../../shared/usage/event.ts';
import { gpuEventId } from '../../../../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { emptyTables } from '../../../../support/emulators/empty-tables.ts';
import { accountStores } from '../../../../support/fixtures/account-stores.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';
import { rollupStores } from '../../../../support/fixtures/rollups.ts';
import { storeUser } from '../../../../support/fixtures/stored-users.ts';

const NOW = Date.parse('2026-11-21T12:00Z');
const DOLLAR = 1_000_000_000n;
// A key with so few requests in flight has one limiter item.
const ONE_ITEM = NewApiKey.parse({ name: 'a key', limits: { concurrency: 10 } });

// Organizations besides that of a test.
const OTHERS = 2;

let database: TestDatabase;
let deps: AllDependencies;
beforeAll(async () => {
  database = await startTestDatabase();
  const { Keys, Usage, Accounts, Deployments } = database.tables as Record<string, string>;
  deps = {
    ...accountStores(database),
    ...rollupStores(database.database, Usage as string),
    database: database.sdk,
    keysTable: Keys as string,
    usageTable: Usage as string,
    credit: createCreditStore(database.database, Accounts as string),
    gpuEvents: createGpuEventStore(database.database, Usage as string),
    deployments: createDeploymentStore(createRecordTable(database.database, Deployments as string)),
    now: () => NOW,
  };
});
beforeEach(async () => {
  await emptyTables(database);
  for (let others = 0; others < OTHERS; others++) await createPrepaidCustomer();
});
afterAll(async () => {
  await database.close();
});

const origin = operatorOrigin('ada', NOW - 60 * DAY_MS);
const tables = () => ({
  database: database.database,
  keysTable: database.tables.Keys as string,
  accountsTable: database.tables.Accounts as string,
  auditTable: database.tables.Audit as string,
  observabilityTable: database.tables.Observability as string,
});

const createPrepaidCustomer = async () => {
  const organization = newId('organization');
  await limitByOperator(tables(), origin, organization, OrganizationLimits.parse({ prepaid: true, month_budget: '500' }));
  await grantByOperator(tables(), origin, organization, { amount: '100', reason: 'prepayment' });
  const { key_id: key, secret } = await createOperatorKey(tables(), origin, { ...ONE_ITEM, organization });
  return { organization, key, secret };
};

const itemOf = async (id: string): Promise<LimiterItem> => (await database.limiters.get(id)) as LimiterItem;
const remove = (id: string) => database.database.delete({ TableName: database.tables.Keys as string, Key: { id } });

describe('money', () => {
  const eventOf = ({ key, organization }: { key: string; organization: string }, atMs: number, nanos: bigint): UsageEvent => ({
    request_id: newRequestId(atMs),
    key_id: key,
    org_id: organization,
    model: 'm',
    prompt_tokens: 1,
    cached_tokens: 0,
    completion_tokens: 1,
    source: 'runtime',
    outcome: 'completed',
    finish_reason: 'stop',
    admitted_at: atMs,
    time_to_first_token_ms: 5,
    duration_ms: 10,
    cost_nanos: nanos,
    price_version: '1',
    is_prepaid: true,
  });

  test('follows from grants, events of all days, requests in flight, ratings again and GPU time', async () => {
    const customer = await createPrepaidCustomer();
    const { organization, key } = customer;
    const old = eventOf(customer, NOW - 40 * DAY_MS, 7n);
    const first = eventOf(customer, NOW - 3 * DAY_MS, 100n);
    const rerate = { id: 'rerate_1', from: '1' };
    // It was rated again for less: that is credit again, but the limiter counts what the request was admitted with.
    const again = { ...first, request_id: `${first.request_id}#2`, cost_nanos: -30n, rerate };
    const today = eventOf(customer, NOW - 60_000, 1_000n);
    const settling = eventOf(customer, NOW - 5_000, 20_000n);
    for (const event of [old, first, again, today, settling]) await database.usage.putIfAbsent(event);
    const gpu = {
      deployment_id: newId('deployment'),
      generation: 1,
      instance_type: 'ml.g5.xlarge',
      phase: 'serving' as const,
      started_at: NOW - DAY_MS,
    };
    const paid = { seconds: 900, cost_nanos: 400_000n, price_version: 'price_1', is_prepaid: true as const };
    const interval = {
      id: gpuEventId(gpu),
      org_id: organization,
      name: 'qwen',
      instances: 2,
      ended_at: gpu.started_at + 900_000,
      ...gpu,
      ...paid,
    };
    await transact(database.database, deps.gpuEvents.toAdd([interval]));

    // In flight: one without an event, and one whose event is there but whose reservation is not released yet.
    const entry = { tokens: undefined, isFromCredit: true, link: true };
    const waiting = newRequestId(NOW - 2_000);
    const flights = [
      [waiting, { ...entry, admittedAtMs: NOW - 2_000, holdNanos: 3_000_000n }],
      [settling.request_id, { ...entry, admittedAtMs: NOW - 5_000, holdNanos: 50_000_000n }],
    ] as const;
    const inFlight = (link: boolean | string, isFromCredit: boolean) =>
      Object.fromEntries(flights.map(([id, flight]) => [id, storedEntry({ ...flight, link, isFromCredit })]));
    const wrong = { spent: 5n, avail: 1n };
    const damaged = { ...(await itemOf(organization)), ...wrong, fl: inFlight(key, true) };
    await database.database.put({ TableName: database.tables.Keys as string, Item: damaged });
    await database.database.put({ TableName: database.tables.Keys as string, Item: { ...(await itemOf(key)), fl: inFlight(true, false) } });

    const report = await rebuildAll(deps);
    expect(report.money).toMatchObject({ wrong: 2, busy: [] });
    const held = 53_000_000n;
    const { day, month, total } = moneyCountersAt(NOW);
    const counted = async (id: string) => {
      const item = (await itemOf(id)) as unknown as Record<string, bigint | number | undefined>;
      return [day, month, total].map((name) => BigInt(item[name] ?? 0));
    };
    const expected = [1_000n + held, 1_100n + held, 1_107n + held];
    expect(await counted(key)).toEqual(expected);
    expect(await counted(organization)).toEqual(expected);
    const spent = 7n + 100n - 30n + 1_000n + 400_000n;
    expect(BigInt((await itemOf(organization)).avail ?? 0)).toBe(100n * DOLLAR - spent - held);
    expect(wasWrong(await rebuildAll(deps))).toBe(false);
  });

  test('counts what a temporary key spent, and not what an earlier key with its id did', async () => {
    const stores = accountStores(database);
    const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW });
    const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
    const owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW });
    const at = (nowMs: number) => ({ ...owner, origin: { ...owner.origin, nowMs } });
    const body = NewApiKey.parse({ name: 'try', purpose: 'playground', budgets: { total: '1' } });
    const { id: key } = await createPlaygroundKey(stores, at(NOW - 3 * HOUR_MS), body);
    expect((await createPlaygroundKey(stores, at(NOW - HOUR_MS / 2), body)).id).toBe(key);
    for (const [atMs, nanos] of [
      [NOW - 3 * HOUR_MS + 60_000, 5n],
      [NOW - HOUR_MS / 4, 80n],
    ] as const)
      await database.usage.putIfAbsent({ ...eventOf({ organization, key }, atMs, nanos), is_prepaid: undefined } as unknown as UsageEvent);
    await rebuildAll(deps);
    expect(BigInt((await itemOf(key)).spent ?? 0)).toBe(80n);
  });

  test("counts an organization's spend from the change that limited it", async () => {
    const organization = newId('organization');
    const { key_id: key } = await createOperatorKey(tables(), origin, { ...ONE_ITEM, organization });
    const customer = { organization, key };
    const limitedAt = NOW - 2 * DAY_MS;
    for (const [atMs, nanos] of [
      [limitedAt - 60_000, 5n],
      [limitedAt + 60_000, 80n],
      [NOW - DAY_MS, 700n],
    ] as const)
      await database.usage.putIfAbsent({ ...eventOf(customer, atMs, nanos), is_prepaid: undefined } as unknown as UsageEvent);
    await limitByOperator(tables(), operatorOrigin('ada', limitedAt), organization, OrganizationLimits.parse({ month_budget: '500' }));
    await rebuildAll(deps);
    const { month } = moneyCountersAt(NOW);
    expect(BigInt((await itemOf(organization))[month] ?? 0)).toBe(780n);
    expect(BigInt((await itemOf(key))[month] ?? 0)).toBe(785n);
  });
});

describe('limiter items', () => {
  const canAuthenticate = async (id: string, secret: string): Promise<boolean> =>
    sameHash(((await itemOf(id)) as KeyItem).h, (parseSecret(secret) as { hash: Buffer }).hash);

  test("gives a key's items the stored hash, and an earlier release's key the hash of an item that is left", async () => {
    const { organization, key, secret } = await createPrepaidCustomer();
    const kept = { account: organization, record: `key-secret#${key}` };
    await database.database.delete({ TableName: database.tables.Accounts as string, Key: kept });
    expect((await rebuildAll(deps)).limiters).toEqual({ created: 0, configured: 0, to_rotate: [] });
    await remove(key);
    expect((await rebuildAll(deps)).limiters).toMatchObject({ created: 1, to_rotate: [] });
    expect(await canAuthenticate(key, secret)).toBe(true);
  });

  test.each(['was not kept', 'was kept by a release before the last rotation'])(
    'need a rotation of their key if its hash %s',
    async (what) => {
      const { organization, key, secret } = await createPrepaidCustomer();
      const Key = { account: organization, record: `key-secret#${key}` };
      const TableName = database.tables.Accounts as string;
      if (what === 'was not kept') await database.database.delete({ TableName, Key });
      else
        await database.database.update({
          TableName,
          Key: { account: organization, record: `key#${key}` },
          UpdateExpression: 'SET hint = :other',
          ExpressionAttributeValues: { ':other': 'sk-s…zzzz' },
        });
      await remove(key);
      const { limiters } = await rebuildAll(deps);
      expect(limiters).toMatchObject({ created: 1, to_rotate: [key] });
      expect(await canAuthenticate(key, secret)).toBe(false);
      // From now on, it is kept that nobody knows the secret.
      await rebuildAll(deps);
      expect(await canAuthenticate(key, secret)).toBe(false);
    },
  );

  test('gives limiter items the settings of their rows, such as a revocation after the time of the restore', async () => {
    const { organization, key } = await createPrepaidCustomer();
    const suspended = { ...(await itemOf(organization)), status: 'suspended' };
    const other = { ...(await itemOf(key)), status: 'revoked', lim_r: 1, models: ['other'] };
    for (const Item of [suspended, other]) await database.database.put({ TableName: database.tables.Keys as string, Item });
    expect((await rebuildAll(deps)).limiters).toMatchObject({ created: 0, configured: 2 });
    expect((await itemOf(organization)).status).toBe('active');
    expect(await itemOf(key)).toMatchObject({ status: 'active', lim_r: 600 });
    expect(await itemOf(key)).not.toHaveProperty('models');
  });
});
