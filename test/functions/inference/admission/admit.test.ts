import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Admission, type Keys, release } from '../../../../functions/inference/admission/admit.ts';
import { newSecret, type PresentedKey, parseSecret } from '../../../../shared/admission/item/secret.ts';
import { slotOf } from '../../../../shared/admission/item/sliding-window.ts';
import { authenticate } from '../../../../shared/admission/keys/authenticate.ts';
import type { LimiterStore } from '../../../../shared/admission/stores/limiter-store.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import type { TestLimiters } from '../../../support/emulators/limiters.ts';
import { attempt, isAdmitted, makeCaller, makeKey, usedTokens } from '../../../support/fixtures/callers.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const START = 29_000_000 * MINUTE_MS;

let database: TestDatabase;
let store: TestLimiters;
beforeAll(async () => {
  database = await startTestDatabase();
  store = database.limiters;
});
afterAll(async () => {
  await database.close();
});

const callers = (count: number, now: (i: number) => number): Keys[] =>
  Array.from({ length: count }, (_, i) => makeCaller(store, () => now(i)));

// Returns the admitted requests.
const sendConcurrently = async (over: Keys[], key: PresentedKey, requests: number): Promise<Admission[]> => {
  const results = await Promise.all(Array.from({ length: requests }, (_, i) => attempt(over[i % over.length] as Keys, key)));
  for (const result of results) if (!isAdmitted(result)) expect(result).toMatchObject({ status: 429 });
  return results.filter(isAdmitted);
};

describe('a limit of 50 requests a minute', () => {
  test('admits 50 of 200 concurrent requests in 3 round trips each, and 50 more when they no longer count', async () => {
    const key = await makeKey(store, { requests_per_minute: 50 });
    let now = START + 1_000;
    const environments = callers(20, () => now);
    const admitted = await sendConcurrently(environments, key, 200);
    expect(admitted).toHaveLength(50);
    expect(Math.max(...admitted.map(({ roundTrips }) => roundTrips))).toBeLessThanOrEqual(3);
    let more = 0;
    for (const [elapsed, total] of [
      [0, 0],
      [9_999, 0],
      [10_000, 50],
    ] as const) {
      now = START + MINUTE_MS + elapsed;
      more += (
        await sendConcurrently(
          callers(4, () => now),
          key,
          60,
        )
      ).length;
      expect(more).toBe(total);
    }
  });

  test('holds in any 60 s, also for a burst at the end of a minute with a steady rate after it', async () => {
    const key = await makeKey(store, { requests_per_minute: 50 });
    let now = START + 59_000;
    const [keys] = callers(1, () => now) as [Keys];
    const times = (await sendConcurrently([keys], key, 60)).map(() => now);
    for (; now < START + 3 * MINUTE_MS; now += 500) if (isAdmitted(await attempt(keys, key))) times.push(now);
    const inMinuteBefore = times.map((time) => times.filter((other) => other > time - MINUTE_MS && other <= time).length);
    expect(Math.max(...inMinuteBefore)).toBe(50);
    expect(times.length).toBeGreaterThanOrEqual(100);
  });

  test('holds if the clocks of half of the callers are a minute behind', async () => {
    const key = await makeKey(store, { requests_per_minute: 50 });
    // Those that are behind count at the latest time, so both halves share one limit whichever comes first.
    const environments = callers(20, (i) => START - (i % 2) * MINUTE_MS);
    expect(await sendConcurrently(environments, key, 200)).toHaveLength(50);
  });

  test('does not follow a clock that is an hour ahead', async () => {
    const key = await makeKey(store, { requests_per_minute: 50 });
    const [ahead, right] = callers(2, (i) => START + (1 - i) * 60 * MINUTE_MS) as [Keys, Keys];
    expect(isAdmitted(await attempt(ahead, key))).toBe(true);
    expect(await sendConcurrently([right], key, 60)).toHaveLength(50);
    expect(await store.get(key.keyId)).toMatchObject({ slot: slotOf(START), [`r${slotOf(START)}`]: 50 });
  });

  test('holds if every write arrives twice', async () => {
    const key = await makeKey(store, { requests_per_minute: 50 });
    const twice: LimiterStore = {
      ...store,
      admit: async (reservation) => {
        await store.admit(reservation);
        return store.admit(reservation);
      },
    };
    const environments = callers(20, () => START).map((keys) => ({ ...keys, store: twice }));
    expect(await sendConcurrently(environments, key, 200)).toHaveLength(50);
    expect(await store.get(key.keyId)).toMatchObject({ [`r${slotOf(START)}`]: 50 });
  });
});

describe('a limit of 10 concurrent requests', () => {
  test('holds exactly in five rounds of 60 requests', async () => {
    const key = await makeKey(store, { concurrency: 10 });
    let now = START;
    for (let round = 0; round < 5; round++) {
      now += 1_000;
      const environments = callers(10, () => now);
      const admitted = await sendConcurrently(environments, key, 60);
      expect(admitted).toHaveLength(10);
      expect(Object.keys((await store.get(key.keyId))?.fl ?? {})).toHaveLength(10);
      await Promise.all(admitted.map((admission) => release(environments[0] as Keys, admission, usedTokens(1))));
      expect((await store.get(key.keyId))?.fl).toEqual({});
    }
  });
});

describe('a tokens-per-minute limit', () => {
  test('holds exactly, and releases unused reserved tokens', async () => {
    const key = await makeKey(store, { tokens_per_minute: 1_000 });
    const environments = callers(5, () => START);
    const results = await Promise.all(Array.from({ length: 30 }, (_, i) => attempt(environments[i % 5] as Keys, key, 100)));
    const admitted = results.filter(isAdmitted);
    expect(admitted).toHaveLength(10);
    await Promise.all(admitted.map((admission) => release(environments[0] as Keys, admission, usedTokens(20))));
    const again = await Promise.all(
      Array.from({ length: 30 }, () =>
        attempt(
          makeCaller(store, () => START),
          key,
          100,
        ),
      ),
    );
    expect(again.filter(isAdmitted)).toHaveLength(8);
  });
});

describe('a request larger than its limit', () => {
  describe('the configuration of a key', () => {
    const change = (keyId: string, expression: string, values: Record<string, unknown> = {}) =>
      database.database.update({
        TableName: database.tables.Keys as string,
        Key: { id: keyId },
        UpdateExpression: `${expression} ADD cfg :one`,
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':one': 1, ...values },
      });

    test('is verified by the write: a revocation stops 40 callers with a stale cache at their next request', async () => {
      const key = await makeKey(store);
      const environments = callers(40, () => START);
      for (const keys of environments) expect(isAdmitted(await attempt(keys, key))).toBe(true);
      await change(key.keyId, 'SET #status = :revoked', { ':revoked': 'revoked' });
      for (const keys of environments) expect(await attempt(keys, key)).toMatchObject({ status: 401 });
      expect(Object.keys((await store.get(key.keyId))?.fl ?? {})).toHaveLength(40);
    });

    test('lets a rotated secret work where the old one is cached, once the cached item is 5 s old', async () => {
      const key = await makeKey(store);
      let now = START;
      const keys = makeCaller(store, () => now);
      await attempt(keys, key);
      const rotated = parseSecret(newSecret('serverless', key.keyId).secret) as PresentedKey;
      await change(key.keyId, 'SET h = :h, #status = :active', { ':h': rotated.hash, ':active': 'active' });
      now += 5_000;
      expect(isAdmitted(await attempt(keys, rotated))).toBe(true);
      expect(await attempt(keys, key)).toMatchObject({ status: 401 });
    });

    test('lets the previous secret work until the end of its overlap', async () => {
      const key = await makeKey(store);
      const next = parseSecret(newSecret('serverless', key.keyId).secret) as PresentedKey;
      await change(key.keyId, 'SET h = :h, h2 = :h2, h2_until = :until, #status = :active', {
        ':h': next.hash,
        ':h2': key.hash,
        ':until': START + 1_000,
        ':active': 'active',
      });
      expect(
        isAdmitted(
          await attempt(
            makeCaller(store, () => START + 999),
            key,
          ),
        ),
      ).toBe(true);
      expect(
        await attempt(
          makeCaller(store, () => START + 1_000),
          key,
        ),
      ).toMatchObject({ status: 401 });
      expect(
        isAdmitted(
          await attempt(
            makeCaller(store, () => START + 1_000),
            next,
          ),
        ),
      ).toBe(true);
    });

    test.each([
      ['an expired key', { expires_at: START }, 401],
      ['a model that is not on the allow-list', { models: ['another'] }, 403],
      ['a limit of 0 requests', { requests_per_minute: 0 }, 429],
      ['a limit of 0 concurrent requests', { concurrency: 0 }, 429],
      ['a limit of 0 tokens', { tokens_per_minute: 0 }, 429],
    ])('rejects %s', async (_, fields, status) => {
      const key = await makeKey(store, fields);
      expect(
        await attempt(
          makeCaller(store, () => START),
          key,
        ),
      ).toMatchObject({ status });
      expect((await store.get(key.keyId))?.fl).toEqual({});
    });

    test('is rejected with x-should-retry: false', async () => {
      const key = await makeKey(store, { tokens_per_minute: 100 });
      expect(
        await attempt(
          makeCaller(store, () => START),
          key,
          101,
        ),
      ).toMatchObject({ status: 429, headers: { 'x-should-retry': 'false' } });
    });
  });
});

describe('a change of a key', () => {
  describe('the database calls of admission', () => {
    const counted = (): { keys: Keys; calls: () => number } => {
      let calls = 0;
      const count =
        <Parameters extends unknown[], Result>(call: (...parameters: Parameters) => Result) =>
        (...parameters: Parameters): Result => {
          calls++;
          return call(...parameters);
        };
      return { keys: makeCaller({ ...store, get: count(store.get), admit: count(store.admit) }, () => START), calls: () => calls };
    };

    test('are one with a warm cache and two with a cold one', async () => {
      const key = await makeKey(store);
      const { keys, calls } = counted();
      await attempt(keys, key);
      expect(calls()).toBe(2);
      for (let i = 0; i < 10; i++) await attempt(keys, key);
      expect(calls()).toBe(12);
    });

    test('are none for repeated rejections after the first', async () => {
      const key = await makeKey(store, { requests_per_minute: 1 });
      const { keys, calls } = counted();
      await attempt(keys, key);
      await attempt(keys, key);
      const before = calls();
      for (let i = 0; i < 20; i++) expect(await attempt(keys, key)).toMatchObject({ status: 429, headers: { 'retry-after': '70' } });
      expect(calls()).toBe(before);
    });

    test('are few for many requests with an unknown key or a wrong secret', async () => {
      const { keys, calls } = counted();
      const unknown = parseSecret(newSecret('serverless', newId('key')).secret) as PresentedKey;
      for (let i = 0; i < 50; i++) expect(await attempt(keys, unknown)).toMatchObject({ status: 401 });
      expect(calls()).toBe(6);
      const real = await makeKey(store);
      const wrong = () => parseSecret(newSecret('serverless', real.keyId).secret) as PresentedKey;
      for (let i = 0; i < 50; i++) expect(await attempt(keys, wrong())).toMatchObject({ status: 401 });
      expect(calls()).toBe(12);
      expect(await authenticate(keys, real)).toMatchObject({ id: real.keyId });
      expect(calls()).toBe(12);
    });

    test('lets an added model be used within five seconds', async () => {
      const key = await makeKey(store, { models: ['another'] });
      let now = START;
      const keys = makeCaller(store, () => now);
      expect(await attempt(keys, key)).toMatchObject({ status: 403 });
      await store.configure(key.keyId, {}, ['models']);
      now += 5_000;
      expect(await attempt(keys, key)).toMatchObject({ keyId: key.keyId });
    });

    test('lets a new secret work at once, although the old one was just used', async () => {
      const key = await makeKey(store);
      const { keys, calls } = counted();
      await attempt(keys, key);
      const { secret, hash } = newSecret('serverless', key.keyId);
      await store.configure(key.keyId, { h: hash });
      const before = calls();
      const rotated = parseSecret(secret) as PresentedKey;
      const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(keys, rotated)));
      expect(answers.filter(isAdmitted)).toHaveLength(20);
      // One read for all of them, and one write each.
      expect(calls() - before).toBeLessThanOrEqual(25);
    });
  });
});

describe('counters', () => {
  test('are removed when they no longer count', async () => {
    const key = await makeKey(store);
    let now = START;
    const keys = makeCaller(store, () => now);
    for (let minute = 0; minute < 10; minute++) {
      now = START + minute * MINUTE_MS;
      await release(keys, (await attempt(keys, key)) as Admission, usedTokens(1));
    }
    const counters = Object.keys((await store.get(key.keyId)) ?? {}).filter((name) => /^[rt]\d+$/.test(name));
    expect(counters.toSorted()).toEqual([`r${slotOf(now)}`, `r${slotOf(now) - 6}`, `t${slotOf(now)}`, `t${slotOf(now) - 6}`].toSorted());
  });
});
