import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { retrieveKey } from '../../../functions/catalog/key.ts';
import { admit } from '../../../functions/inference/admission/admit.ts';
import { newSecret, type PresentedKey, parseSecret } from '../../../shared/admission/item/secret.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { makeCaller } from '../../support/fixtures/callers.ts';
import { createKey, type TestKey } from '../../support/fixtures/create-key.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const limits = { org: 'org_test', scope: 'serverless', requests_per_minute: 60, tokens_per_minute: 1_000, concurrency: 8 } as const;

let database: TestDatabase;
let reads: number;
let store: LimiterStore;
beforeAll(async () => {
  database = await startTestDatabase();
  store = {
    ...database.limiters,
    get: (id) => {
      reads++;
      return database.limiters.get(id);
    },
    admit: async () => Promise.reject(new Error('GET /v1/key must not write.')),
  };
});
beforeEach(() => {
  reads = 0;
});
afterAll(async () => {
  await database.close();
});

const create = (fields: Partial<TestKey> = {}) => createKey(database.limiters, { ...limits, ...fields });
const serve = (now: () => number = () => NOON) => retrieveKey(makeCaller(store, now), { scope: 'serverless' });
const withKey = (secret: string) => eventOf('/v1/key', { headers: { authorization: `Bearer ${secret}` } });

describe('GET /v1/key', () => {
  test('returns the permissions and full limits of an unused key', async () => {
    const { secret, key_id } = await create({ models: ['a', 'b/c'], expires_at: NOON + 1_500 });
    const reply = await serve()(withKey(secret));
    expect(reply).toMatchObject({ statusCode: 200, headers: { 'cache-control': 'no-store', 'x-ratelimit-remaining-requests': '60' } });
    expect(JSON.parse(reply.body)).toEqual({
      id: key_id,
      object: 'api_key',
      scope: 'serverless',
      models: ['a', 'b/c'],
      expires_at: NOON / 1_000 + 1,
      last_used_at: null,
      requests_per_minute: { limit: 60, remaining: 60, reset_ms: 0 },
      tokens_per_minute: { limit: 1_000, remaining: 1_000, reset_ms: 0 },
      concurrency: { limit: 8, in_flight: 0 },
      budgets: { day: null, month: null, total: null },
    });
    expect(reads).toBe(1);
  });

  test('returns the remaining limits, their resets and the requests in progress', async () => {
    const { secret } = await create();
    const handle = serve(() => NOON + 15_000);
    await handle(withKey(secret));
    const keys = makeCaller(database.limiters, () => NOON);
    await admit(keys, {
      key: parseSecret(secret) as PresentedKey,
      model: 'm',
      requestId: newRequestId(NOON),
      tokens: 300,
      maxCostNanos: () => 0n,
    });
    expect(JSON.parse((await handle(withKey(secret))).body)).toMatchObject({
      models: null,
      expires_at: null,
      last_used_at: NOON / 1_000,
      requests_per_minute: { limit: 60, remaining: 59, reset_ms: 55_000 },
      tokens_per_minute: { limit: 1_000, remaining: 700, reset_ms: 55_000 },
      concurrency: { limit: 8, in_flight: 1 },
    });
    expect(reads).toBe(2);
  });

  test.each([
    ['no key', undefined],
    ['another scheme', 'Basic abc'],
    ['a malformed key', 'Bearer sk-nonsense'],
    ['a key of the other host', `Bearer ${newSecret('on_demand', newId('key')).secret}`],
  ])('returns 401 without a read for %s', async (_, authorization) => {
    const event = eventOf('/v1/key', { headers: authorization ? { authorization } : {} });
    await expect(serve()(event)).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(reads).toBe(0);
  });

  test('returns 401 for an unknown or expired key or a wrong secret, with few reads', async () => {
    const { key_id } = await create();
    const expired = await create({ expires_at: NOON - 1 });
    for (const secret of [newSecret('serverless', newId('key')).secret, newSecret('serverless', key_id).secret, expired.secret]) {
      reads = 0;
      let now = NOON;
      const handle = serve(() => now);
      for (const ms of [0, 1, 2, 3, 4, 5, 6, 7, 8, 4_999]) {
        now = NOON + ms;
        await expect(handle(withKey(secret))).rejects.toMatchObject({ status: 401 });
      }
      expect(reads).toBe(6);
    }
  });
});

describe('a key that calls too often', () => {
  const TOO_MANY = {
    status: 429,
    code: 'rate_limit_exceeded',
    headers: { 'retry-after': '1', 'retry-after-ms': '100', 'x-ratelimit-limit-requests': '60' },
  };

  test('gets a 429 without a read, until its reads are available again', async () => {
    const { secret } = await create();
    let nowMs = NOON;
    const handle = serve(() => nowMs);
    for (let i = 0; i < 100; i++) expect((await handle(withKey(secret))).statusCode).toBe(200);
    const before = reads;
    for (let i = 0; i < 20; i++) await expect(handle(withKey(secret))).rejects.toMatchObject(TOO_MANY);
    expect(reads).toBe(before);
    nowMs += 100;
    expect((await handle(withKey(secret))).statusCode).toBe(200);
    expect((await handle(withKey((await create()).secret))).statusCode).toBe(200);
  });

  test('is not affected by callers that only know its id', async () => {
    const { secret, key_id } = await create();
    const handle = serve();
    const stranger = withKey(newSecret('serverless', key_id).secret);
    for (let i = 0; i < 150; i++) await expect(handle(stranger)).rejects.toMatchObject({ status: 401 });
    expect((await handle(withKey(secret))).statusCode).toBe(200);
  });
});
