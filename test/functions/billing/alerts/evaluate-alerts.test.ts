import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAlertStore } from '../../../../functions/billing/alerts/alert-store.ts';
import { type AlertDependencies, evaluateAlerts } from '../../../../functions/billing/alerts/evaluate-alerts.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { createPlaygroundKey } from '../../../../functions/control/api-keys/playground-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { type PresentedKey, parseSecret } from '../../../../shared/admission/item/secret.ts';
import { endReservations } from '../../../../shared/admission/stores/reservation.ts';
import { DEFAULT_THRESHOLDS } from '../../../../shared/billing/billing-profile.ts';
import { createCreditStore } from '../../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createOutbox } from '../../../../shared/notifications/outbox.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { deploymentsOf, storeDeployment } from '../../../support/fixtures/deployments.ts';
import { grantCredit } from '../../../support/fixtures/grant-credit.ts';
import { limitOrganization, limitProject } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const DOLLAR = 1_000_000_000n;
const NOON = Date.UTC(2026, 10, 21, 12);

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const tableOf = (name: string): string => database.tables[name] as string;

// Notifications are listed by their time, so no two calls may share one.
let calls = 0;

const depsOf = (nowMs = NOON, thresholds: readonly number[] = DEFAULT_THRESHOLDS): AlertDependencies => ({
  database: database.database,
  limiters: database.limiters,
  credit: createCreditStore(database.database, tableOf('Accounts')),
  deployments: deploymentsOf(database),
  alerts: createAlertStore(database.database, tableOf('Billing')),
  outbox: createOutbox(createRecordTable(database.database, tableOf('Notifications'))),
  profileOf: async () => ({ budget_thresholds: [...thresholds], credit_thresholds: [...thresholds] }),
  now: () => nowMs + calls++,
});

const spend = async (key: PresentedKey, costNanos: bigint, { nowMs = NOON, isInFlight = false } = {}): Promise<void> => {
  const requestId = newRequestId(nowMs);
  const caller = makeCaller(database.limiters, () => nowMs);
  const admission = await attempt(caller, key, 1, requestId, costNanos);
  if (!isAdmitted(admission)) throw admission;
  if (isInFlight) return;
  await endReservations(database.limiters, admission.reservations, { requestId, used: { tokens: 1, costNanos }, nowMs });
};

const grant = (organization: string, dollars: bigint): Promise<unknown> =>
  grantCredit(
    { limiters: database.limiters, credit: createCreditStore(database.database, tableOf('Accounts')), database: database.database },
    { organization, amount_nanos: dollars * DOLLAR, actor: 'finance', reason: 'prepayment', granted_at: NOON },
  );

const notifiedOf = async (organization: string) => {
  const rows = createRecordTable(database.database, tableOf('Notifications')).all({ account: organization, prefix: '' });
  return (await Array.fromAsync(rows)).map(({ type, subject, data }) => ({ type, subject, ...(data as object) }));
};

describe('evaluateAlerts for budgets', () => {
  test('notifies once of each threshold in a period, and of the highest of several', async () => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, day_budget_nanos: 10n * DOLLAR });
    const keys = [key.keyId];
    await spend(key, 4n * DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys });
    expect(await notifiedOf(organization)).toEqual([]);
    await spend(key, 5n * DOLLAR);
    await Promise.all([evaluateAlerts(depsOf(), { organization, keys }), evaluateAlerts(depsOf(), { organization, keys })]);
    const first = {
      type: 'sluice.budget.threshold_reached.v1',
      subject: key.keyId,
      api_key: key.keyId,
      project: null,
      period: 'day',
      budget: '10',
      spent: '9',
      threshold: 80,
    };
    expect(await notifiedOf(organization)).toEqual([first]);
    await spend(key, DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys });
    expect(await notifiedOf(organization)).toEqual([first, { ...first, spent: '10', threshold: 100 }]);
  });

  test('notifies of each temporary key with an id, whatever earlier keys with it have spent', async () => {
    const stores = accountStores(database);
    const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOON });
    const { id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' });
    const owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOON });
    const ids = [];
    for (const nowMs of [NOON, NOON + HOUR_MS]) {
      const body = NewApiKey.parse({ name: 'try', purpose: 'playground', budgets: { month: '10', total: '10' } });
      const key = await createPlaygroundKey(stores, { ...owner, origin: { ...owner.origin, nowMs } }, body);
      ids.push(key.id);
      await spend(parseSecret(key.secret) as PresentedKey, 9n * DOLLAR, { nowMs });
      for (let i = 0; i < 2; i++) await evaluateAlerts(depsOf(nowMs), { organization, keys: [key.id] });
    }
    expect(new Set(ids).size).toBe(1);
    expect((await notifiedOf(organization)).map((each) => 'period' in each && each.period)).toEqual(['month', 'total', 'month', 'total']);
  });

  test('begins anew with the next period', async () => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, day_budget_nanos: 10n * DOLLAR });
    for (const nowMs of [NOON, NOON + DAY_MS, NOON + DAY_MS]) {
      await spend(key, 3n * DOLLAR, { nowMs });
      await evaluateAlerts(depsOf(nowMs, [20]), { organization, keys: [key.keyId] });
    }
    expect(await notifiedOf(organization)).toMatchObject([{ spent: '3' }, { spent: '3' }]);
  });

  test('notifies of a period that has just ended, once, and then of the new one', async () => {
    const midnight = Date.UTC(2026, 11, 1);
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, day_budget_nanos: 10n * DOLLAR, month_budget_nanos: 20n * DOLLAR });
    const evaluate = (nowMs: number) => evaluateAlerts(depsOf(nowMs, [40]), { organization, keys: [key.keyId] });
    await spend(key, 9n * DOLLAR, { nowMs: midnight - SECOND_MS });
    for (let i = 0; i < 2; i++) await evaluate(midnight + MINUTE_MS);
    const ofNovember = [
      { period: 'day', spent: '9' },
      { period: 'month', spent: '9' },
    ];
    expect(await notifiedOf(organization)).toMatchObject(ofNovember);
    await spend(key, 4n * DOLLAR, { nowMs: midnight + 2 * MINUTE_MS });
    for (let i = 0; i < 2; i++) await evaluate(midnight + 3 * MINUTE_MS);
    expect(await notifiedOf(organization)).toMatchObject([...ofNovember, { period: 'day', spent: '4' }]);
    await evaluate(midnight + 2 * HOUR_MS);
    expect(await notifiedOf(organization)).toHaveLength(3);
  });

  test('does not notify again of an ended period that was reported before its end', async () => {
    const midnight = Date.UTC(2026, 11, 1);
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, day_budget_nanos: 10n * DOLLAR });
    const at = (nowMs: number) => evaluateAlerts(depsOf(nowMs, [40, 80]), { organization, keys: [key.keyId] });
    await spend(key, 5n * DOLLAR, { nowMs: midnight - HOUR_MS });
    await at(midnight - MINUTE_MS);
    await at(midnight + MINUTE_MS);
    expect(await notifiedOf(organization)).toMatchObject([{ spent: '5', threshold: 40 }]);
    await spend(key, 4n * DOLLAR, { nowMs: midnight - SECOND_MS });
    await at(midnight + 2 * MINUTE_MS);
    expect(await notifiedOf(organization)).toMatchObject([{ threshold: 40 }, { spent: '9', threshold: 80 }]);
  });

  test.each([
    ['none before', [], ['9', '5', '10']],
    ['one before', [4n * DOLLAR], ['4', '5', '10', '9']],
  ])('notifies of an ended period after the next one has reached the same threshold (%s)', async (_, early, spent) => {
    const midnight = Date.UTC(2027, 0, 1);
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, day_budget_nanos: 10n * DOLLAR });
    const at = (nowMs: number) => evaluateAlerts(depsOf(nowMs, [40, 80, 90]), { organization, keys: [key.keyId] });
    for (const nanos of early) await spend(key, nanos, { nowMs: midnight - HOUR_MS });
    await at(midnight - HOUR_MS);
    await spend(key, 5n * DOLLAR, { nowMs: midnight + SECOND_MS });
    await at(midnight + MINUTE_MS);
    await spend(key, 5n * DOLLAR, { nowMs: midnight + MINUTE_MS });
    await at(midnight + MINUTE_MS);
    // A stream that began before midnight ends now.
    await spend(key, early.length > 0 ? 5n * DOLLAR : 9n * DOLLAR, { nowMs: midnight - SECOND_MS });
    for (let i = 0; i < 2; i++) await at(midnight + 2 * MINUTE_MS);
    expect((await notifiedOf(organization)).map((each) => 'spent' in each && each.spent).sort()).toEqual([...spent].sort());
  });

  test.each(['day', 'month', 'total'] as const)('notify again within the period (%s) after the budget was changed', async (period) => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization });
    const budget = (dollars: bigint) =>
      limitOrganization(database.limiters, organization, { budgets: { [period]: dollars * DOLLAR } }, NOON);
    const evaluate = () => evaluateAlerts(depsOf(), { organization, keys: [] });
    await budget(20n);
    await spend(key, 20n * DOLLAR);
    await evaluate();
    await budget(60n);
    await evaluate();
    await spend(key, 10n * DOLLAR);
    await evaluate();
    await evaluate();
    await budget(30n);
    await evaluate();
    expect(await notifiedOf(organization)).toMatchObject([
      { budget: '20', spent: '20', threshold: 100 },
      { budget: '60', spent: '30', threshold: 50 },
      { budget: '30', spent: '30', threshold: 100 },
    ]);
  });

  test.each([
    ['day', '2026-11-21'],
    ['month', '2026-11'],
    ['total', `total ${10n * DOLLAR}`],
  ] as const)('don’t notify again of what release 0.1.0 has notified (%s)', async (period, noted) => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization });
    await limitOrganization(database.limiters, organization, { budgets: { [period]: 10n * DOLLAR } }, NOON);
    const row = { account: organization, record: `alert#${organization}#${period}`, period: noted, threshold: 50 };
    await database.database.put({ TableName: tableOf('Billing'), Item: row });
    await spend(key, 5n * DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys: [] });
    expect(await notifiedOf(organization)).toEqual([]);
    await spend(key, 3n * DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys: [] });
    expect(await notifiedOf(organization)).toMatchObject([{ threshold: 80 }]);
  });

  test('doesn’t count amounts held for requests in flight', async () => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, day_budget_nanos: 10n * DOLLAR });
    await spend(key, 9n * DOLLAR, { isInFlight: true });
    await evaluateAlerts(depsOf(), { organization, keys: [key.keyId] });
    expect(await notifiedOf(organization)).toEqual([]);
  });

  test('names no key if the budget is the organization’s', async () => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization });
    await limitOrganization(database.limiters, organization, { budgets: { month: 10n * DOLLAR } }, NOON);
    await spend(key, 5n * DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys: [key.keyId] });
    expect(await notifiedOf(organization)).toMatchObject([
      { subject: organization, api_key: null, project: null, period: 'month', threshold: 50 },
    ]);
  });

  test('names the project if the budget is that of a project, and counts all of its keys', async () => {
    const organization = newId('organization');
    const project = newId('project');
    await limitProject(database.limiters, project, organization, { month: 10n * DOLLAR });
    const keys = await Promise.all([1, 2].map(() => makeKey(database.limiters, { org: organization, project_id: project })));
    for (const key of keys) await spend(key, 4n * DOLLAR);
    const evaluate = () => evaluateAlerts(depsOf(), { organization, keys: [], projects: [project] });
    await evaluate();
    await evaluate();
    expect(await notifiedOf(organization)).toEqual([
      {
        type: 'sluice.budget.threshold_reached.v1',
        subject: project,
        api_key: null,
        project,
        period: 'month',
        budget: '10',
        spent: '8',
        threshold: 80,
      },
    ]);
  });

  test('ignores projects of another organization, and those without a budget', async () => {
    const organization = newId('organization');
    const [foreign, unlimited] = [newId('project'), newId('project')];
    await limitProject(database.limiters, foreign, newId('organization'), { month: DOLLAR });
    await spend(await makeKey(database.limiters, { org: newId('organization'), project_id: foreign }), DOLLAR);
    await spend(await makeKey(database.limiters, { org: organization, project_id: unlimited }), DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys: [], projects: [foreign, unlimited] });
    expect(await notifiedOf(organization)).toEqual([]);
  });

  test('ignores keys of another organization', async () => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: newId('organization'), day_budget_nanos: DOLLAR });
    await spend(key, DOLLAR);
    await evaluateAlerts(depsOf(), { organization, keys: [key.keyId] });
    expect(await notifiedOf(organization)).toEqual([]);
  });
});

describe('evaluateAlerts for credit', () => {
  test('notifies of the used part of the credit after the last grant, and anew after the next grant', async () => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization });
    await limitOrganization(database.limiters, organization, { isPrepaid: true }, NOON);
    await grant(organization, 10n);
    const evaluate = (): Promise<void> => evaluateAlerts(depsOf(), { organization, keys: [] });
    await evaluate();
    await spend(key, 5n * DOLLAR);
    await evaluate();
    await evaluate();
    await grant(organization, -2n);
    await evaluate();
    await spend(key, DOLLAR);
    await evaluate();
    await grant(organization, 18n);
    await evaluate();
    await spend(key, 10n * DOLLAR);
    await evaluate();
    const type = 'sluice.credit.threshold_reached.v1';
    expect(await notifiedOf(organization)).toEqual([
      { type, subject: organization, threshold: 50, available: '5', available_after_last_grant: '10' },
      { type, subject: organization, threshold: 80, available: '2', available_after_last_grant: '10' },
      { type, subject: organization, threshold: 50, available: '10', available_after_last_grant: '20' },
    ]);
  });

  test('doesn’t count credit that is held for a deployment as used, until it pays for GPU time', async () => {
    const organization = newId('organization');
    await limitOrganization(database.limiters, organization, { isPrepaid: true }, NOON);
    const move = (nanos: bigint): Promise<unknown> =>
      database.database.update({
        TableName: tableOf('Keys'),
        Key: { id: organization },
        UpdateExpression: 'ADD avail :nanos',
        ExpressionAttributeValues: { ':nanos': nanos },
      });
    const hold = (dollars: bigint): Partial<Deployment> => ({ meter: { until: NOON, held_nanos: dollars * DOLLAR, running: [] } });
    const stored = await storeDeployment(database, { organization, ...hold(8n) });
    const evaluate = (): Promise<void> => evaluateAlerts(depsOf(), { organization, keys: [] });
    await grant(organization, 18n);
    await move(-8n * DOLLAR);
    await evaluate();
    await move(-6n * DOLLAR);
    await transact(database.database, [deploymentsOf(database).toReplace({ ...stored, ...hold(14n) })]);
    await evaluate();
    expect(await notifiedOf(organization)).toEqual([]);
    await transact(database.database, [deploymentsOf(database).toReplace({ ...stored, ...hold(5n), version: stored.version + 1 })]);
    await evaluate();
    expect(await notifiedOf(organization)).toMatchObject([{ threshold: 50, available: '9', available_after_last_grant: '18' }]);
  });

  test('doesn’t notify an organization without credit or without thresholds', async () => {
    const organization = newId('organization');
    await limitOrganization(database.limiters, organization, { isPrepaid: true }, NOON);
    await evaluateAlerts(depsOf(), { organization, keys: [] });
    await grant(organization, 1n);
    await evaluateAlerts(depsOf(NOON, []), { organization, keys: [] });
    expect(await notifiedOf(organization)).toEqual([]);
  });
});
