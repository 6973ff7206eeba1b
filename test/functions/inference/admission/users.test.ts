import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Keys, release } from '../../../../functions/inference/admission/admit.ts';
import { MAX_NEW_USERS_PER_MINUTE } from '../../../../functions/inference/admission/reserve-user.ts';
import { userHashOf } from '../../../../functions/inference/admission/user.ts';
import type { UserLimits } from '../../../../shared/admission/item/limits.ts';
import type { PresentedKey } from '../../../../shared/admission/item/secret.ts';
import { userLimiterId } from '../../../../shared/admission/item/user-limiter.ts';
import type { ApiError } from '../../../../shared/http/errors.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller, makeKey, usedTokens } from '../../../support/fixtures/callers.ts';

const START = Date.UTC(2026, 10, 26, 12);
const DOLLAR = 1_000_000_000n;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const makeLimited = (perUser: UserLimits): Promise<PresentedKey> => makeKey(database.limiters, { per_user: perUser });

const ask = (caller: Keys, key: PresentedKey, user: string | undefined, { tokens = 1, nanos = 0n } = {}) =>
  attempt(caller, key, tokens, newRequestId(caller.now()), nanos, user);

const limiterOf = (key: PresentedKey, user: string) => database.limiters.get(userLimiterId(key.keyId, userHashOf(key.keyId, user)));

// Counts the calls that write, by what they do.
const counting = (caller: Keys) => {
  const calls = { admit: 0, end: 0, countNewUser: 0, createUser: 0, get: 0 };
  const counted = (name: keyof typeof calls) =>
    jest.fn((...parameters: never[]) => {
      calls[name]++;
      return (caller.store[name] as unknown as (...all: never[]) => Promise<never>)(...parameters);
    });
  const names = Object.keys(calls) as (keyof typeof calls)[];
  return {
    caller: { ...caller, store: { ...caller.store, ...Object.fromEntries(names.map((name) => [name, counted(name)])) } } as Keys,
    calls,
  };
};

describe('limits of end users', () => {
  test.each<[string, UserLimits, { tokens?: number; nanos?: bigint }, number]>([
    ['requests per minute', { requestsPerMinute: 3 }, {}, 3],
    ['tokens per minute', { tokensPerMinute: 100 }, { tokens: 40 }, 2],
    ['concurrency', { concurrency: 2 }, {}, 2],
    ['the monthly budget', { monthlyBudgetNanos: 10n * DOLLAR }, { nanos: 3n * DOLLAR }, 3],
  ])('admit exactly as many requests of each user as fit %s, from twenty environments', async (_, perUser, amounts, most) => {
    const key = await makeLimited(perUser);
    const callers = Array.from({ length: 20 }, () => makeCaller(database.limiters, () => START));
    const results = await Promise.all(
      callers.flatMap((caller) => ['ann', 'bob'].map(async (user) => ({ user, result: await ask(caller, key, user, amounts) }))),
    );
    for (const user of ['ann', 'bob']) expect(results.filter((one) => one.user === user && isAdmitted(one.result))).toHaveLength(most);
    const rejected = results.map(({ result }) => result).find((result) => !isAdmitted(result)) as ApiError;
    expect(rejected).toMatchObject({ status: 429, param: 'user' });
    expect(rejected.message).toMatch(/end user/);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    // A rejected request leaves nothing in the key.
    expect(Object.keys((await database.limiters.get(key.keyId))?.fl ?? {})).toHaveLength(2 * most);
  });

  test('leave the headers of other users as they are', async () => {
    const key = await makeLimited({ requestsPerMinute: 5 });
    const caller = makeCaller(database.limiters, () => START);
    for (let i = 0; i < 5; i++) await ask(caller, key, 'ann');
    const remainingOf = (result: Awaited<ReturnType<typeof ask>>) =>
      (isAdmitted(result) ? result.headers : undefined)?.['x-ratelimit-remaining-requests'];
    expect(remainingOf(await ask(caller, key, 'bob'))).toBe('4');
  });

  test('count nothing of an earlier temporary key with the same id', async () => {
    const key = await makeLimited({ monthlyBudgetNanos: 2n * DOLLAR });
    const makeTemporary = async (since: number): Promise<void> => {
      const item = await database.limiters.get(key.keyId);
      await database.database.put({ TableName: database.tables.Keys as string, Item: { ...item, fl: {}, since } });
    };
    const askAnn = async () =>
      isAdmitted(
        await ask(
          makeCaller(database.limiters, () => START),
          key,
          'ann',
          { nanos: 2n * DOLLAR },
        ),
      );
    await makeTemporary(1_795_000_000);
    expect([await askAnn(), await askAnn()]).toEqual([true, false]);
    await makeTemporary(1_795_000_060);
    expect([await askAnn(), await askAnn()]).toEqual([true, false]);
  });

  test('apply when the key changes, to all of its users at once', async () => {
    const key = await makeLimited({ requestsPerMinute: 50 });
    let now = START;
    const caller = makeCaller(database.limiters, () => now);
    for (let i = 0; i < 4; i++) expect(isAdmitted(await ask(caller, key, 'ann'))).toBe(true);
    await database.limiters.configure(key.keyId, { per_user: { r: 4 } });
    expect(await ask(caller, key, 'ann')).toMatchObject({ status: 429, param: 'user' });
    await database.limiters.configure(key.keyId, { per_user: { r: 5 } });
    // Refusals are remembered for this long.
    now += 5_000;
    expect(isAdmitted(await ask(caller, key, 'ann'))).toBe(true);
    await database.limiters.configure(key.keyId, {}, ['per_user']);
    now += 5_000;
    expect(isAdmitted(await ask(caller, key, undefined))).toBe(true);
  });

  test('require a user, also of a key that this environment knows without them', async () => {
    const key = await makeKey(database.limiters);
    const caller = makeCaller(database.limiters, () => START);
    expect(isAdmitted(await ask(caller, key, undefined))).toBe(true);
    await database.limiters.configure(key.keyId, { per_user: { r: 4 } });
    for (const user of [undefined, ''])
      expect(await ask(caller, key, user)).toMatchObject({ status: 400, code: 'user_required', param: 'user' });
    expect(Object.keys((await database.limiters.get(key.keyId))?.fl ?? {})).toHaveLength(1);
  });

  test('are released with the request, and count what it used', async () => {
    const key = await makeLimited({ concurrency: 1, tokensPerMinute: 100, monthlyBudgetNanos: 10n * DOLLAR });
    const caller = makeCaller(database.limiters, () => START);
    const admission = await ask(caller, key, 'ann', { tokens: 90, nanos: 9n * DOLLAR });
    if (!isAdmitted(admission)) throw admission;
    expect(admission.holdNanos).toBe(9n * DOLLAR);
    expect(await ask(caller, key, 'ann')).toMatchObject({ status: 429, type: 'concurrency' });
    await release(caller, admission, { tokens: 10, costNanos: DOLLAR });
    expect(isAdmitted(await ask(caller, key, 'ann', { tokens: 90, nanos: 9n * DOLLAR }))).toBe(true);
    expect(await limiterOf(key, 'ann')).toMatchObject({ m202611: Number(10n * DOLLAR) });
  });

  test('take two writes more than a plain request, of at most one unit each, and no other call', async () => {
    const key = await makeLimited({ requestsPerMinute: 1_000, tokensPerMinute: 100_000, concurrency: 10, monthlyBudgetNanos: DOLLAR });
    const { caller, calls } = counting(makeCaller(database.limiters, () => START));
    const run = async (): Promise<void> => {
      const admission = await ask(caller, key, 'ann', { nanos: 1n });
      if (!isAdmitted(admission)) throw admission;
      await release(caller, admission, usedTokens(1));
    };
    await run();
    Object.assign(calls, { admit: 0, end: 0, countNewUser: 0, createUser: 0, get: 0 });
    await run();
    expect(calls).toEqual({ admit: 2, end: 2, countNewUser: 0, createUser: 0, get: 0 });
    const item = await limiterOf(key, 'ann');
    expect(JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? String(value) : value)).length).toBeLessThan(400);
    // No index lists it, which would cost more writes.
    expect(item).not.toHaveProperty('ep');
    expect(item).not.toHaveProperty('org');
  });

  test('reject what this environment remembers without a call', async () => {
    const key = await makeLimited({ requestsPerMinute: 1 });
    const { caller, calls } = counting(makeCaller(database.limiters, () => START));
    await ask(caller, key, 'ann');
    await ask(caller, key, 'ann');
    Object.assign(calls, { admit: 0, end: 0, countNewUser: 0, createUser: 0, get: 0 });
    expect(await ask(caller, key, 'ann')).toMatchObject({ status: 429, param: 'user' });
    expect(calls).toEqual({ admit: 0, end: 0, countNewUser: 0, createUser: 0, get: 0 });
  });

  test('keep a limiter until its month and every queued settlement are over', async () => {
    const key = await makeLimited({ requestsPerMinute: 9 });
    await ask(
      makeCaller(database.limiters, () => Date.UTC(2026, 11, 31, 23, 59)),
      key,
      'ann',
    );
    expect(await limiterOf(key, 'ann')).toMatchObject({ del_at: Date.UTC(2027, 1, 1) / 1_000 });
  });

  test('create the limiter of a user again that was deleted', async () => {
    const key = await makeLimited({ requestsPerMinute: 9 });
    const caller = makeCaller(database.limiters, () => START);
    await ask(caller, key, 'ann');
    const id = userLimiterId(key.keyId, userHashOf(key.keyId, 'ann'));
    await database.database.delete({ TableName: database.tables.Keys as string, Key: { id } });
    expect(isAdmitted(await ask(caller, key, 'ann'))).toBe(true);
  });

  test('give users of different keys different hashes, without their ids', () => {
    const hashes = ['key_1', 'key_2'].map((key) => userHashOf(key, 'ann@example.com'));
    expect(new Set(hashes).size).toBe(2);
    expect(hashes[0]).toMatch(/^[\w-]{16}$/);
  });

  test('end an entry that was written after its request had ended, when it rejects the next one', async () => {
    const key = await makeLimited({ concurrency: 1, monthlyBudgetNanos: 5n * DOLLAR });
    let now = START;
    const caller = makeCaller(database.limiters, () => now);
    const admission = await ask(caller, key, 'ann', { nanos: 5n * DOLLAR });
    if (!isAdmitted(admission)) throw admission;
    const [own] = admission.reservations;
    if (!own) throw new Error('No reservation.');
    await database.limiters.end({ limiterId: key.keyId, requestId: admission.requestId, entry: own.entry, used: 'undone', nowMs: now });
    now += 2 * MINUTE_MS;
    expect(await ask(caller, key, 'ann', { nanos: DOLLAR })).toMatchObject({ status: 429, param: 'user' });
    now += 20 * MINUTE_MS;
    expect(isAdmitted(await ask(caller, key, 'ann', { nanos: 5n * DOLLAR }))).toBe(true);
  });
});

describe('new users', () => {
  test('are added up to a limit in each minute, while known users are served', async () => {
    const key = await makeLimited({ requestsPerMinute: 9 });
    let now = START;
    const { caller, calls } = counting(makeCaller(database.limiters, () => now));
    await ask(caller, key, 'known');
    // As if other environments had added the others.
    const deleteAt = START / 1_000 + 1_000;
    const count = { keyId: key.keyId, minute: START / MINUTE_MS, most: MAX_NEW_USERS_PER_MINUTE, deleteAt };
    for (let added = 1; added < MAX_NEW_USERS_PER_MINUTE - 1; added++) await database.limiters.countNewUser(count);
    const results = await Promise.all(Array.from({ length: 4 }, (_, i) => ask(caller, key, `new ${i}`)));
    expect(results.filter(isAdmitted)).toHaveLength(1);
    const rejected = results.find((result) => !isAdmitted(result)) as ApiError;
    expect(rejected).toMatchObject({ status: 429, param: 'user', headers: { 'retry-after': '60' } });
    Object.assign(calls, { admit: 0, end: 0, countNewUser: 0, createUser: 0, get: 0 });
    expect(await ask(caller, key, 'another')).toMatchObject({ status: 429, param: 'user' });
    expect(calls).toEqual({ admit: 0, end: 0, countNewUser: 0, createUser: 0, get: 1 });
    expect(isAdmitted(await ask(caller, key, 'known'))).toBe(true);
    now += MINUTE_MS;
    expect(isAdmitted(await ask(caller, key, 'another'))).toBe(true);
  });

  test('get one limiter from concurrent environments', async () => {
    const key = await makeLimited({ requestsPerMinute: 9 });
    const callers = Array.from({ length: 12 }, () => makeCaller(database.limiters, () => START));
    const results = await Promise.all(callers.map((caller) => ask(caller, key, 'ann')));
    expect(results.filter(isAdmitted)).toHaveLength(9);
  });
});
