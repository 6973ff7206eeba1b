import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { type ExpireCredit, expireCredit } from '../../../../functions/billing/credit-expiry/expire-credit.ts';
import { createLimiterConfigurationStore } from '../../../../shared/admission/limiter-configuration-store.ts';
import { createAuditStore } from '../../../../shared/audit/audit-store.ts';
import { createCreditStore, type Grant } from '../../../../shared/credit/credit-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createAccountTable } from '../../../../shared/database/record-table.ts';
import { createOutbox } from '../../../../shared/notifications/outbox.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotals } from '../../../../shared/usage/organization-totals.ts';
import { noTotals } from '../../../../shared/usage/totals.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { grantCredit } from '../../../support/grant-credit.ts';
import { limitOrganization } from '../../../support/limit-organization.ts';
import { newId } from '../../../support/new-id.ts';
import { Crash, unreliable } from '../../../support/unreliable-database.ts';

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;
const GRANTED_AT = Date.UTC(2026, 9, 10, 12);
const EXPIRES_AT = Date.UTC(2026, 9, 20);
const DUE_AT = EXPIRES_AT + 3_600_000;

let database: TestDatabase;
/** What the billing function may do. */
let billing: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  billing = await database.as('billing');
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const tableOf = (name: string): string => database.tables[name] as string;

/** @param spent nano-dollars that requests paid from credit, by days after the grant */
const depsOf = (spent: Record<number, bigint> = {}, over: Database = billing): ExpireCredit => ({
  database: over,
  audit: createAuditStore(createAccountTable(over, tableOf('Audit'))),
  limiters: createLimiterConfigurationStore(over, tableOf('Keys')),
  credit: createCreditStore(over, tableOf('Accounts')),
  outbox: createOutbox(createAccountTable(over, tableOf('Notifications'))),
  gpuEvents: createGpuEventStore(over, tableOf('Usage')),
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

/** A prepaid organization with these grants, which has spent some of them. */
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
  const rows = createAccountTable(database.database, tableOf('Notifications')).all({ account: organization, prefix: '' });
  return (await Array.fromAsync(rows)).map(({ type, data }) => ({ type, data }));
};

test('removes what is left of a grant, once, with an entry in the ledger, the audit log and a notification', async () => {
  const organization = await setUp([{ nanos: 10n * DOLLAR, expires_at: EXPIRES_AT }, { nanos: 5n * DOLLAR }], 4n * DOLLAR);
  const deps = depsOf({ 1: 3n * DOLLAR, 2: DOLLAR });
  await expireCredit(deps, { organization });
  await expireCredit(deps, { organization });
  expect(await availableTo(organization)).toBe(5n * DOLLAR);
  expect((await ledgerOf(organization)).slice(2)).toEqual([
    expect.objectContaining({ number: 3, amount_nanos: -6n * DOLLAR, expired_grant: 1, actor: 'billing', reason: 'Expiry of grant 1' }),
  ]);
  expect(await notificationsOf(organization)).toEqual([
    { type: 'sluice.credit.expired.v1', data: { grant: 1, amount: '6', expired_at: EXPIRES_AT / 1_000 } },
  ]);
  const { data } = await depsOf({}, database.database).audit.list(organization, { limit: 10 });
  expect(data).toMatchObject([{ action: 'credit.expired', actor: { type: 'system', id: 'billing' }, target: { id: '1' } }]);
});

test('waits until the usage of the last day is complete', async () => {
  const organization = await setUp([{ nanos: DOLLAR, expires_at: EXPIRES_AT }]);
  await expireCredit({ ...depsOf(), now: () => DUE_AT - 1 }, { organization });
  expect(await availableTo(organization)).toBe(DOLLAR);
});

test('takes no more than what is available, so that an expiry never makes credit negative', async () => {
  // Of the eight dollars that were left, seven were spent after midnight.
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

const WRITES = ['put', 'update', 'delete', 'transactWrite'];
const CRASHES = Array.from({ length: 6 }, (_, i) => i).flatMap((call) => (['before', 'after'] as const).map((when) => ({ call, when })));

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
  await expireCredit(depsOf({}, crashing), { organization }).catch((error: unknown) => expect(error).toBeInstanceOf(Crash));
  await expireCredit(depsOf(), { organization });
  expect(await availableTo(organization)).toBe(DOLLAR);
  expect((await ledgerOf(organization)).slice(3).map(({ expired_grant }) => expired_grant)).toEqual([1, 2]);
  expect(await notificationsOf(organization)).toHaveLength(2);
});
