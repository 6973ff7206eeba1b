import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Admission } from '../../../../functions/inference/admission/admit.ts';
import type { PresentedKey } from '../../../../shared/admission/item/secret.ts';
import { slotOf } from '../../../../shared/admission/item/sliding-window.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { type CreditDeps, creditDepsOf, DOLLAR, NOON, setUpIn, sweepAt } from './credit-fixtures.ts';

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

describe('an organization', () => {
  test('costs no extra write without limits: one write admits a request', async () => {
    const key = await makeKey(database.limiters, { org: newId('organization') });
    const keys = makeCaller(database.limiters, () => NOON);
    await attempt(keys, key);
    expect(((await attempt(keys, key)) as Admission).roundTrips).toBe(1);
  });

  test('limits all its keys together, including a key that was created concurrently', async () => {
    const organization = newId('organization');
    const [first, , second] = await Promise.all([
      makeKey(database.limiters, { org: organization }),
      limitOrganization(database.limiters, organization, { concurrency: 10, requestsPerMinute: 3 }),
      makeKey(database.limiters, { org: organization }),
    ]);
    const keys = makeCaller(database.limiters, () => NOON);
    const admitted = (await Promise.all([first, second, first, second, first].map((key) => attempt(keys, key)))).filter(isAdmitted);
    expect(admitted).toHaveLength(3);
    const rejected = await attempt(keys, second as PresentedKey);
    expect(rejected).toMatchObject({ status: 429, type: 'requests' });
    expect((rejected as Error).message).toContain("The organization's limit of 3 requests per minute");
    // Requests that the organization's limiter rejected do not count for any key.
    const counted = await Promise.all([first, second].map(({ keyId }) => database.limiters.get(keyId)));
    const inFlight = counted.flatMap((item) => Object.keys(item?.fl ?? {}));
    expect(inFlight).toHaveLength(3);
    expect(counted.reduce((sum, item) => sum + Number(item?.[`r${slotOf(NOON)}`] ?? 0), 0)).toBe(3);
  });

  test.each([
    ['one limiter', {}],
    ['eight shards', { concurrency: 96, tokens_per_minute: 1_000_000 }],
  ])('applies new limits to the next request in every environment that had cached its key of %s', async (_, limits) => {
    const organization = newId('organization');
    const key = await makeKey(database.limiters, { org: organization, ...limits });
    const environments = Array.from({ length: 10 }, () => makeCaller(database.limiters, () => NOON));
    for (const keys of environments) for (let i = 0; i < 4; i++) expect(isAdmitted(await attempt(keys, key))).toBe(true);
    await limitOrganization(database.limiters, organization, { isPrepaid: true, requestsPerMinute: 0 });
    for (const keys of environments) for (let i = 0; i < 4; i++) expect(await attempt(keys, key)).toMatchObject({ status: 429 });
  });

  test('is admitted after a resume by an environment that had seen it suspended', async () => {
    const { organization, key } = await setUp(DOLLAR);
    let now = NOON;
    const keys = makeCaller(database.limiters, () => now);
    await database.limiters.configure(organization, { status: 'suspended' });
    expect(await attempt(keys, key)).toMatchObject({ status: 403 });
    await database.limiters.configure(organization, { status: 'active' });
    now += 5_000;
    expect(isAdmitted(await attempt(keys, key))).toBe(true);
  });

  test('shows its keys’ own limits in the headers if it limits only money', async () => {
    const { key } = await setUp(0n);
    const keys = makeCaller(database.limiters, () => NOON);
    for (let i = 0; i < 2; i++)
      expect(await attempt(keys, key, 1, undefined, 5n)).toMatchObject({
        code: 'insufficient_quota',
        headers: { 'x-ratelimit-limit-requests': '100000', 'x-ratelimit-limit-tokens': '130000' },
      });
  });

  test('gets a 403 while it is suspended, and nothing is in flight', async () => {
    const { organization, key } = await setUp(DOLLAR);
    await database.limiters.configure(organization, { status: 'suspended' });
    const keys = makeCaller(database.limiters, () => NOON);
    expect(await attempt(keys, key, 1, undefined, 5n)).toMatchObject({ status: 403, code: 'organization_suspended' });
    expect((await database.limiters.get(key.keyId))?.fl).toEqual({});
  });

  test('costs no writes while it is suspended, and is read again after five seconds', async () => {
    const { organization, key } = await setUp(DOLLAR);
    await database.limiters.configure(organization, { status: 'suspended' });
    let writes = 0;
    const store: typeof database.limiters = {
      ...database.limiters,
      admit: (plan) => {
        writes++;
        return database.limiters.admit(plan);
      },
    };
    let now = NOON;
    const keys = makeCaller(store, () => now);
    for (let i = 0; i < 20; i++) expect(await attempt(keys, key, 1, undefined, 5n)).toMatchObject({ status: 403 });
    expect(writes).toBe(1);
    await database.limiters.configure(organization, { status: 'active' });
    now += 5_000;
    expect(isAdmitted(await attempt(keys, key, 1, undefined, 5n))).toBe(true);
  });

  test('limits an unmarked key once the sweep has marked it', async () => {
    const { organization, key } = await setUp(DOLLAR);
    await database.limiters.unmarkOrganizationLimited(key.keyId);
    await attempt(
      makeCaller(database.limiters, () => NOON),
      key,
    );
    await sweepAt(database, NOON);
    const again = (await attempt(
      makeCaller(database.limiters, () => NOON),
      key,
    )) as Admission;
    expect(again.reservations.map(({ limiterId }) => limiterId)).toEqual([key.keyId, organization]);
  });
});
