import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { OutOfTime } from '../../../../functions/billing/close/read-day.ts';
import { dueExpiries } from '../../../../functions/billing/credit-expiry/due-expiries.ts';
import { type ExpiryDependencies, expireCredit } from '../../../../functions/billing/credit-expiry/expire-credit.ts';
import { createLimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import { createCreditStore, type Grant } from '../../../../shared/credit/credit-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { DAY_MS } from '../../../../shared/time/units.ts';
import type { OrganizationTotals } from '../../../../shared/usage/organization-totals.ts';
import { noTotals } from '../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash, unreliable } from '../../../support/faults/unreliable-database.ts';
import { startBillingFiles, type TestBillingFiles } from '../../../support/fixtures/billing-files.ts';
import { type Closing, createClosing } from '../../../support/fixtures/closing.ts';
import { deploymentsOf, storeDeployment } from '../../../support/fixtures/deployments.ts';
import { grantCredit } from '../../../support/fixtures/grant-credit.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const DOLLAR = 1_000_000_000n;
const GRANTED_AT = Date.UTC(2026, 9, 10, 12);
const EXPIRES_AT = Date.UTC(2026, 9, 20);
const DUE_AT = EXPIRES_AT + 3_600_000;

let database: TestDatabase;
// With the permissions of the billing function.
let billing: Database;
let bucket: TestBillingFiles;
let closing: Closing;
beforeAll(async () => {
  database = await startTestDatabase();
  billing = await database.as('billing');
  bucket = await startBillingFiles();
  closing = await createClosing(database, bucket);
});
afterAll(async () => {
  await bucket.close();
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const tableOf = (name: string): string => database.tables[name] as string;

// `spent` has the nano-dollars that requests paid from credit, as in the totals, by days after the grant.
const depsOf = (spent: Record<number, bigint> = {}, over: Database = billing): ExpiryDependencies => ({
  ...closing.dependencies({ database: over }),
  limiters: createLimiterConfigurationStore(over, tableOf('Keys')),
  credit: createCreditStore(over, tableOf('Accounts')),
  deployments: deploymentsOf({ database: over, tables: database.tables }),
  totals: {
    list: async function* ({ organization, fromMs, toMs }): AsyncGenerator<OrganizationTotals> {
      for (const [day, prepaid_nanos] of Object.entries(spent)) {
        const startMs = GRANTED_AT - (GRANTED_AT % DAY_MS) + Number(day) * DAY_MS;
        const totals = { ...noTotals(), prepaid_nanos };
        if (startMs >= fromMs && startMs < toMs) yield { organization, startMs, model: 'm', route: null, deployment: null, totals };
      }
    },
  },
  now: () => DUE_AT,
});

interface NewEntry {
  nanos: bigint;
  expires_at?: number;
}

const setUp = async (entries: readonly NewEntry[], spentNanos = 0n): Promise<string> => {
  const organization = newId('organization');
  await limitOrganization(database.limiters, organization, { isPrepaid: true });
  for (const { nanos, expires_at } of entries) {
    const grant = { organization, amount_nanos: nanos, actor: 'finance', reason: 'prepayment', granted_at: GRANTED_AT };
    await grantCredit({ ...depsOf(), database: database.database }, { ...grant, ...(expires_at && { expires_at }) });
  }
  if (spentNanos > 0n) {
    const avail = BigInt((await database.limiters.get(organization))?.avail ?? 0) - spentNanos;
    await database.limiters.configure(organization, { avail } as never);
  }
  return organization;
};

const availableTo = async (organization: string): Promise<bigint> => BigInt((await database.limiters.whole(organization))?.avail ?? 0);
const ledgerOf = (organization: string): Promise<Grant[]> => Array.fromAsync(depsOf().credit.list(organization));
const notificationsOf = async (organization: string) => {
  const rows = createRecordTable(database.database, tableOf('Notifications')).all({ account: organization, prefix: '' });
  return (await Array.fromAsync(rows)).map(({ type, data }) => ({ type, data }));
};

test('removes the rest of a grant once, with an entry in the ledger, the audit log and a notification', async () => {
  const organization = await setUp([{ nanos: 10n * DOLLAR, expires_at: EXPIRES_AT }, { nanos: 5n * DOLLAR }], 4n * DOLLAR);
  const deps = depsOf({ 1: 3n * DOLLAR, 2: DOLLAR });
  await expireCredit(deps, { organization });
  await expireCredit(deps, { organization });
  expect(await availableTo(organization)).toBe(5n * DOLLAR);
  expect((await ledgerOf(organization)).slice(2)).toEqual([
    expect.objectContaining({
      number: 3,
      amount_nanos: -6n * DOLLAR,
      granted_at: DUE_AT,
      expired_grant: 1,
      actor: 'billing',
      reason: 'Expiry of grant 1',
    }),
  ]);
  expect(await notificationsOf(organization)).toEqual([
    { type: 'sluice.credit.expired.v1', data: { grant: 1, amount: '6', expired_at: EXPIRES_AT / 1_000 } },
  ]);
  const { data } = await closing.audit.list(organization, { limit: 10 });
  expect(data).toMatchObject([{ action: 'credit.expired', actor: { type: 'system', id: 'billing' }, target: { id: '1' } }]);
});

test('waits until the usage of the last day is complete', async () => {
  const organization = await setUp([{ nanos: DOLLAR, expires_at: EXPIRES_AT }]);
  await expireCredit({ ...depsOf(), now: () => DUE_AT - 1 }, { organization });
  expect(await availableTo(organization)).toBe(DOLLAR);
});

test('removes the rest once if two functions expire it at the same time', async () => {
  const organization = await setUp([{ nanos: 3n * DOLLAR, expires_at: EXPIRES_AT }, { nanos: DOLLAR }]);
  await Promise.all([expireCredit(depsOf(), { organization }), expireCredit(depsOf(), { organization })]);
  expect(await availableTo(organization)).toBe(DOLLAR);
});

test('takes no more than the available credit, so that an expiry never makes it negative', async () => {
  // Seven of the eight dollars that were left were spent after midnight.
  const organization = await setUp([{ nanos: 10n * DOLLAR, expires_at: EXPIRES_AT }], 9n * DOLLAR);
  await expireCredit(depsOf({ 1: 2n * DOLLAR, 10: 7n * DOLLAR }), { organization });
  expect(await availableTo(organization)).toBe(0n);
});

test('adds no entry for a grant that was used up', async () => {
  const organization = await setUp([{ nanos: DOLLAR, expires_at: EXPIRES_AT }, { nanos: DOLLAR }], DOLLAR);
  await expireCredit(depsOf({ 1: DOLLAR }), { organization });
  expect(await ledgerOf(organization)).toHaveLength(2);
  expect(await Array.fromAsync(depsOf().credit.listExpiries(DUE_AT))).not.toContainEqual(expect.objectContaining({ organization }));
});

test('lists expiries until a time, of all organizations', async () => {
  const soon = await setUp([{ nanos: DOLLAR, expires_at: EXPIRES_AT }]);
  const later = await setUp([{ nanos: DOLLAR, expires_at: EXPIRES_AT + DAY_MS }]);
  const found = await Array.fromAsync(depsOf().credit.listExpiries(DUE_AT));
  expect(found).toContainEqual({ organization: soon, number: 1, expiresAtMs: EXPIRES_AT });
  expect(found.map(({ organization }) => organization)).not.toContain(later);
});

// Days count from the grant.
const LAST_DAY = 9;
const SETTLED_AT = EXPIRES_AT + 2 * DAY_MS;
const timeOf = (day: number): number => GRANTED_AT + day * DAY_MS;

const addAvailable = async (organization: string, nanos: bigint): Promise<void> => {
  const avail = BigInt((await database.limiters.get(organization))?.avail ?? 0) + nanos;
  await database.limiters.configure(organization, { avail } as never);
};

// The limiter has already counted it.
const spend = async (organization: string, day: number, cost_nanos: bigint): Promise<void> => {
  const key_id = await closing.addKey(organization);
  await closing.addUsage({ key_id, org_id: organization, admitted_at: timeOf(day), cost_nanos, is_prepaid: true });
};

const hold = async (organization: string, atMs: number, nanos: bigint): Promise<string> => {
  const requestId = newRequestId(atMs);
  await addAvailable(organization, -nanos);
  await database.limiters.configure(organization, { fl: { [requestId]: [atMs, null, nanos, 1] } } as never);
  return requestId;
};

// As in production: the event is written first, then the rest of the hold is released.
const settle = async (organization: string, requestId: string, atMs: number, heldNanos: bigint, cost_nanos: bigint): Promise<void> => {
  const key_id = await closing.addKey(organization);
  await closing.addUsage({ request_id: requestId, key_id, org_id: organization, admitted_at: atMs, cost_nanos, is_prepaid: true });
  await database.limiters.configure(organization, { fl: {} });
  await addAvailable(organization, heldNanos - cost_nanos);
};

const dueAt = async (organization: string, nowMs: number) =>
  (await Array.fromAsync(dueExpiries({ credit: depsOf().credit, now: () => nowMs }))).filter((due) => due.organization === organization);

const amountsOf = async (organization: string): Promise<bigint[]> =>
  (await ledgerOf(organization))
    .filter(({ expired_grant }) => expired_grant !== undefined)
    .map(({ amount_nanos }) => amount_nanos / DOLLAR);

describe('expireCredit, if usage comes late', () => {
  test('does not remove credit that the usage needs, although the totals of the last day lack it', async () => {
    const organization = await setUp([{ nanos: 30n * DOLLAR, expires_at: EXPIRES_AT }, { nanos: 10n * DOLLAR }], 6n * DOLLAR);
    await spend(organization, LAST_DAY, 6n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-24n]);
    expect(await availableTo(organization)).toBe(10n * DOLLAR);
  });

  test('waits if the totals have lacked it for more than a day', async () => {
    const organization = await setUp([{ nanos: 30n * DOLLAR, expires_at: EXPIRES_AT }], 6n * DOLLAR);
    await spend(organization, LAST_DAY - 1, 6n * DOLLAR);
    await expect(expireCredit(depsOf(), { organization })).rejects.toThrow('The totals of 2026-10-18');
    expect(await amountsOf(organization)).toEqual([]);
    expect(await dueAt(organization, DUE_AT)).toHaveLength(1);
    await expireCredit(depsOf({ [LAST_DAY - 1]: 6n * DOLLAR }), { organization });
    expect(await amountsOf(organization)).toEqual([-24n]);
  });

  test('counts usage that comes while an expiry waits for totals for days', async () => {
    const organization = await setUp([{ nanos: 30n * DOLLAR, expires_at: EXPIRES_AT }], 6n * DOLLAR);
    await spend(organization, LAST_DAY - 1, 6n * DOLLAR);
    await expect(expireCredit(depsOf(), { organization })).rejects.toThrow('The totals of 2026-10-18');
    await spend(organization, LAST_DAY, 3n * DOLLAR);
    await addAvailable(organization, -3n * DOLLAR);
    const totals = { [LAST_DAY - 1]: 6n * DOLLAR, [LAST_DAY]: 3n * DOLLAR };
    await expireCredit({ ...depsOf(totals), now: () => SETTLED_AT + DAY_MS }, { organization });
    expect(await amountsOf(organization)).toEqual([-21n]);
    expect(await dueAt(organization, SETTLED_AT + 30 * DAY_MS)).toEqual([]);
  });

  test('returns credit by an entry when the rest is computed again after two days', async () => {
    const organization = await setUp([{ nanos: 30n * DOLLAR, expires_at: EXPIRES_AT }, { nanos: 10n * DOLLAR }]);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-30n]);
    // A settlement that waited in a queue.
    await spend(organization, LAST_DAY, 6n * DOLLAR);
    await addAvailable(organization, -6n * DOLLAR);
    expect(await dueAt(organization, SETTLED_AT - 1)).toEqual([]);
    expect(await dueAt(organization, SETTLED_AT)).toHaveLength(1);
    const settled = { ...depsOf({ [LAST_DAY]: 6n * DOLLAR }), now: () => SETTLED_AT };
    for (let times = 0; times < 2; times++) await expireCredit(settled, { organization });
    expect(await amountsOf(organization)).toEqual([-30n, 6n]);
    expect(await notificationsOf(organization)).toHaveLength(1);
    expect((await ledgerOf(organization)).at(-1)).toMatchObject({
      reason: 'Correction of the expiry of grant 1: usage was recorded later',
    });
    expect(await availableTo(organization)).toBe(10n * DOLLAR);
    expect(await dueAt(organization, SETTLED_AT + 30 * DAY_MS)).toEqual([]);
  });

  test('computes a later grant’s rest from the corrected rest of one that expired before', async () => {
    const entries = [
      { nanos: 30n * DOLLAR, expires_at: EXPIRES_AT },
      { nanos: 10n * DOLLAR, expires_at: EXPIRES_AT + 5 * DAY_MS },
    ];
    const organization = await setUp(entries, 2n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    await spend(organization, LAST_DAY, 2n * DOLLAR);
    const spent = { [LAST_DAY]: 2n * DOLLAR };
    await expireCredit({ ...depsOf(spent), now: () => SETTLED_AT }, { organization });
    await expireCredit({ ...depsOf(spent), now: () => EXPIRES_AT + 6 * DAY_MS }, { organization });
    expect(await amountsOf(organization)).toEqual([-30n, 2n, -10n]);
    expect(await availableTo(organization)).toBe(0n);
  });
});

describe('expireCredit, if credit is held at the expiry', () => {
  test('removes it when it is released, without the request’s cost', async () => {
    const organization = await setUp([{ nanos: 500n * DOLLAR, expires_at: EXPIRES_AT }]);
    const atMs = EXPIRES_AT - 1;
    const requestId = await hold(organization, atMs, 500n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([]);
    await settle(organization, requestId, atMs, 500n * DOLLAR, 28n * DOLLAR);
    expect(await dueAt(organization, DUE_AT)).toHaveLength(1);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-472n]);
    expect(await availableTo(organization)).toBe(0n);
  });

  test('removes a part of it, and the rest when a request that arrived after the expiry releases it', async () => {
    const organization = await setUp([{ nanos: 20n * DOLLAR, expires_at: EXPIRES_AT }]);
    const requestId = await hold(organization, EXPIRES_AT, 15n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-5n]);
    // Nothing has returned.
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-5n]);
    await settle(organization, requestId, EXPIRES_AT, 15n * DOLLAR, 4n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-5n, -11n]);
    // Credit spent after the expiry is not deducted from later credit.
    await expireCredit({ ...depsOf(), now: () => SETTLED_AT }, { organization });
    await addAvailable(organization, 7n * DOLLAR);
    await expireCredit({ ...depsOf(), now: () => SETTLED_AT + DAY_MS }, { organization });
    expect(await amountsOf(organization)).toEqual([-5n, -11n]);
    expect(await dueAt(organization, SETTLED_AT + DAY_MS)).toEqual([]);
  });

  test.each([
    ['before', EXPIRES_AT - 1, [-5n], [-5n, -11n]],
    ['after', EXPIRES_AT, [-15n], [-15n, -5n]],
  ])('counts it as used until its settlement only if its request arrived %s the expiry', async (_, atMs, first, all) => {
    const organization = await setUp([{ nanos: 20n * DOLLAR, expires_at: EXPIRES_AT }, { nanos: 10n * DOLLAR }]);
    const requestId = await hold(organization, atMs, 15n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual(first);
    await settle(organization, requestId, atMs, 15n * DOLLAR, 4n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual(all);
  });

  test('removes it when a deployment releases it', async () => {
    const organization = await setUp([{ nanos: 20n * DOLLAR, expires_at: EXPIRES_AT }]);
    await addAvailable(organization, -15n * DOLLAR);
    await storeDeployment(database, { organization, meter: { until: DUE_AT, held_nanos: 15n * DOLLAR, running: [] } });
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-5n]);
    await addAvailable(organization, 15n * DOLLAR);
    await expireCredit(depsOf(), { organization });
    expect(await amountsOf(organization)).toEqual([-5n, -15n]);
  });
});

test('continues in another invocation if the last days’ events are too many for one', async () => {
  const organization = await setUp([{ nanos: 30n * DOLLAR, expires_at: EXPIRES_AT }], 6n * DOLLAR);
  for (let i = 0; i < 3; i++) await spend(organization, LAST_DAY, 2n * DOLLAR);
  let checks = 0;
  closing.sent.length = 0;
  await expireCredit({ ...depsOf(), hasTime: () => ++checks < 4 }, { organization });
  expect(closing.sent).toEqual([{ task: 'expire', organization }]);
  expect(await amountsOf(organization)).toEqual([]);
  await expireCredit(depsOf(), { organization });
  expect(await amountsOf(organization)).toEqual([-24n]);
  await expect(expireCredit({ ...depsOf(), now: () => SETTLED_AT, hasTime: () => false }, { organization })).rejects.toThrow(OutOfTime);
});

const WRITES = ['put', 'update', 'delete', 'transactWrite'];
const CRASHES = Array.from({ length: 9 }, (_, i) => i).flatMap((call) => (['before', 'after'] as const).map((when) => ({ call, when })));

test.each(CRASHES)('expires each grant once, if it crashes $when write $call and runs again', async ({ call, when }) => {
  const organization = await setUp([
    { nanos: 3n * DOLLAR, expires_at: EXPIRES_AT },
    { nanos: 2n * DOLLAR, expires_at: EXPIRES_AT },
    { nanos: DOLLAR },
  ]);
  let calls = 0;
  const crash = (operation: string, at: 'before' | 'after'): boolean => {
    if (!WRITES.includes(operation) || at !== when) return false;
    return calls++ === call;
  };
  const crashing = unreliable(database.database, { random: () => 1, lostRequests: 0, lostReplies: 0, crash });
  await expireCredit(depsOf({}, crashing), { organization }).catch((error: unknown) =>
    expect(error instanceof AggregateError ? error.errors[0] : error).toBeInstanceOf(Crash),
  );
  await expireCredit(depsOf(), { organization });
  expect(await availableTo(organization)).toBe(DOLLAR);
  expect((await ledgerOf(organization)).slice(3).map(({ expired_grant }) => expired_grant)).toEqual([1, 2]);
  expect(await notificationsOf(organization)).toHaveLength(2);
});
