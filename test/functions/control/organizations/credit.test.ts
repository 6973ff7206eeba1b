import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { balanceOf } from '../../../../functions/control/organizations/balance.ts';
import { NewCreditGrant } from '../../../../functions/control/organizations/credit.ts';
import type { Admission, Keys } from '../../../../functions/inference/admission/admit.ts';
import { settle } from '../../../../functions/inference/pipeline/settle-request.ts';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import { rebuild } from '../../../../infra/tools/admin/rebuild/rebuild-totals.ts';
import { applyGrants } from '../../../../shared/credit/grant-credit.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller } from '../../../support/fixtures/callers.ts';
import { eventOf } from '../../../support/fixtures/completed-event.ts';
import { grantCredit } from '../../../support/fixtures/grant-credit.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { rollupStores } from '../../../support/fixtures/rollups.ts';
import { sized } from '../../../support/sized.ts';
import { type CreditDeps, creditDepsOf, DOLLAR, grantOf, NOON, setUpIn, sweepAt } from './credit-fixtures.ts';

const REQUESTS = sized(300, 1_000);
// Enough for about a third of them.
const CREDIT = (BigInt(REQUESTS) * DOLLAR) / 1_000n;

let database: TestDatabase;
let deps: CreditDeps;
beforeAll(async () => {
  database = await startTestDatabase();
  deps = creditDepsOf(database);
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const setUp = (nanos: bigint) => setUpIn(deps, nanos);

const availableTo = async (organization: string): Promise<bigint> => BigInt((await database.limiters.whole(organization))?.avail ?? 0);

test(`${REQUESTS} concurrent requests never exceed their credit, and the ledger balances exactly`, async () => {
  const { organization, key } = await setUp(CREDIT);
  const random = seededRandom(7);
  const environments: Keys[] = Array.from({ length: 8 }, () => makeCaller(database.limiters, () => NOON));
  let most = 0n;
  let refused = 0;
  const one = async (_: unknown, i: number): Promise<void> => {
    const keys = environments[i % environments.length] as Keys;
    const holdNanos = BigInt(1_000_000 + Math.floor(random() * 9_000_000));
    const admission = await attempt(keys, key, 10, undefined, holdNanos);
    if (!isAdmitted(admission)) {
      // A 503 is possible because the database can be overloaded.
      expect(admission).toMatchObject((admission as { status?: number }).status === 503 ? {} : { status: 429, type: 'insufficient_quota' });
      refused++;
      return;
    }
    // Credit that is not available is held or spent.
    const heldAndSpent = CREDIT - BigInt(admission.reservations.at(-1)?.item.avail ?? 0);
    if (heldAndSpent > most) most = heldAndSpent;
    const costNanos = (holdNanos * BigInt(Math.floor(random() * 1_001))) / 1_000n;
    // The sweep settles what fails here.
    const settling = settle({ usage: database.usage, keys }, admission, eventOf(admission, { tokens: 10, costNanos }));
    await settling.catch((error: unknown) => expect(error).toBeInstanceOf(DatabaseUnavailable));
  };
  // A single process cannot send all requests at once, as test/e2e/environments/credit.ts does.
  const waiting = Array.from({ length: REQUESTS }, (_, i) => i);
  const caller = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await one(undefined, next);
  };
  await Promise.all(Array.from({ length: 128 }, caller));
  await sweepAt(database, NOON + 12 * MINUTE_MS);
  const events = await Array.fromAsync(database.usage.listByBucket(key.keyId, NOON));
  const spent = events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
  expect(most).toBeLessThanOrEqual(CREDIT);
  expect(refused).toBeGreaterThan(0);
  expect(spent).toBeGreaterThan(CREDIT / 4n);
  expect(await availableTo(organization)).toBe(CREDIT - spent);
  await rebuild(
    rollupStores(database.database, database.tables.Usage as string),
    '2026-11-21',
    [{ id: key.keyId, shards: 1, organization }],
    () => NOON,
  );
  expect(await balanceOf(deps, organization)).toEqual({
    organization,
    grants: 1,
    granted: CREDIT,
    spent,
    held: 0n,
    available: CREDIT - spent,
    drift: 0n,
    left: [{ grant: 1, amount: CREDIT - spent }],
  });
});

describe('prepaid credit', () => {
  const keysAt = (nowMs: number): Keys => makeCaller(database.limiters, () => nowMs);

  test('suggests a retry while credit is held, but not once it is spent', async () => {
    const { key } = await setUp(1_000n);
    const keys = keysAt(NOON);
    const first = await attempt(keys, key, 1, undefined, 800n);
    expect(isAdmitted(first)).toBe(true);
    const held = await attempt(keys, key, 1, undefined, 300n);
    expect(held).toMatchObject({ status: 429, type: 'insufficient_quota', code: 'rate_limit_exceeded', headers: { 'retry-after': '1' } });
    expect(held).not.toMatchObject({ headers: { 'x-should-retry': 'false' } });
    await settle({ usage: database.usage, keys }, first as Admission, eventOf(first as Admission, { tokens: 1, costNanos: 800n }));
    expect(await attempt(keys, key, 1, undefined, 300n)).toMatchObject({
      status: 429,
      code: 'insufficient_quota',
      headers: { 'x-should-retry': 'false' },
    });
    // The rest can be spent to the last nano-dollar.
    expect(isAdmitted(await attempt(keysAt(NOON), key, 1, undefined, 200n))).toBe(true);
  });

  test('admits free requests once it is used up', async () => {
    const { key } = await setUp(0n);
    expect(await attempt(keysAt(NOON), key, 1, undefined, 1n)).toMatchObject({ code: 'insufficient_quota' });
    expect(isAdmitted(await attempt(keysAt(NOON), key, 1, undefined, 0n))).toBe(true);
  });

  test('rejects many requests without writes once it is used up', async () => {
    const { key } = await setUp(0n);
    let writes = 0;
    const store: typeof database.limiters = {
      ...database.limiters,
      admit: (plan) => {
        writes++;
        return database.limiters.admit(plan);
      },
    };
    const keys = makeCaller(store, () => NOON);
    for (let i = 0; i < 20; i++) expect(await attempt(keys, key, 1, undefined, 5n)).toMatchObject({ status: 429 });
    // The key's write, before the environment knew that the credit is used up.
    expect(writes).toBe(1);
  });

  test('is exact beyond the precision of a double', async () => {
    const { organization, key } = await setUp(9_007_199_254_740_993n);
    const keys = keysAt(NOON);
    const admission = (await attempt(keys, key, 1, undefined, 3n)) as Admission;
    expect(await availableTo(organization)).toBe(9_007_199_254_740_990n);
    await settle({ usage: database.usage, keys }, admission, eventOf(admission, { tokens: 1, costNanos: 2n }));
    expect(await availableTo(organization)).toBe(9_007_199_254_740_991n);
  });
});

describe('createCreditGrant', () => {
  test.each(['0', '-0', '000.00', '0.000000000'])('rejects a grant of nothing: %s', (amount) => {
    const { error } = NewCreditGrant.safeParse({ amount, reason: 'Order 1' });
    expect(error?.issues).toMatchObject([{ path: ['amount'], message: expect.stringContaining('other than 0') }]);
  });

  test('says how much a grant can be at most', () => {
    const messageOf = (amount: string) => NewCreditGrant.safeParse({ amount, reason: 'Order 1' }).error?.issues[0]?.message;
    expect(messageOf('999999999.999999999')).toBeUndefined();
    expect(messageOf('1000000000')).toContain('below a billion');
  });

  test.each(['100', '0.000000001', '-12.50', '10'])('accepts a grant of %s', (amount) => {
    expect(NewCreditGrant.parse({ amount, reason: 'Order 1' })).toMatchObject({ amount });
  });

  test('adds concurrent grants to the ledger, and each once to the balance', async () => {
    const { organization } = await setUp(0n);
    const grants = await Promise.all(Array.from({ length: 8 }, () => grantCredit(deps, grantOf(organization, DOLLAR))));
    expect(grants.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await applyGrants(deps, organization);
    expect(await availableTo(organization)).toBe(8n * DOLLAR);
  });

  test('adds grants to the balance that an earlier crash left out', async () => {
    const { organization } = await setUp(DOLLAR);
    await transact(database.database, deps.credit.toCreate({ ...grantOf(organization, DOLLAR), number: 2 }));
    await grantCredit(deps, grantOf(organization, -DOLLAR / 2n));
    expect(await availableTo(organization)).toBe((3n * DOLLAR) / 2n);
  });

  test('rejects a grant to an organization without limits', async () => {
    await expect(grantCredit(deps, grantOf(newId('organization'), DOLLAR))).rejects.toThrow('have never been set');
  });
});
