import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey, rotateApiKey, updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { type Keys, release } from '../../../../functions/inference/admission/admit.ts';
import type { KeyItem } from '../../../../shared/admission/item/key-item.ts';
import { type PresentedKey, parseSecret } from '../../../../shared/admission/item/secret.ts';
import { shardId } from '../../../../shared/admission/item/shards.ts';
import { epochOf } from '../../../../shared/admission/item/sweep-epoch.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import { MAX_CHANGED_AT_ONCE } from '../../../../shared/admission/stores/spread-configuration.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { attempt, isAdmitted, makeCaller, usedTokens } from '../../../support/fixtures/callers.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';
import { sized } from '../../../support/sized.ts';

const DOLLAR = 1_000_000_000n;
const START = Date.UTC(2026, 10, 21, 12);
// The key has so many limiter items that several transactions change them.
const CONCURRENCY = sized(2_400, 10_000);

let database: TestDatabase;
let organization: string;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  const stores = accountStores(database);
  admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: START });
  organization = (await createOrganization(stores, admin.origin, { name: 'Busy' })).id;
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const create = async (concurrency: number, budgets = {}) => {
  const limits = { concurrency, requests_per_minute: 600_000, tokens_per_minute: 1_000_000_000 };
  const body = NewApiKey.parse({ organization, name: 'k', limits, budgets });
  const { id, secret } = await createApiKey(accountStores(database), admin, body);
  return { id, key: parseSecret(secret) as PresentedKey };
};

test('an owner creates a key with as many limiter items as one transaction can change', async () => {
  const owner = await storeUser(accountStores(database), { role: 'owner', organization, nowMs: START });
  const limits = { concurrency: 12 * MAX_CHANGED_AT_ONCE, requests_per_minute: 600_000, tokens_per_minute: 1_000_000_000 };
  const { id } = await createApiKey(accountStores(database), owner, NewApiKey.parse({ name: 'k', limits }));
  expect(await shardsOfKey(id)).toHaveLength(MAX_CHANGED_AT_ONCE);
});

const shardsOfKey = async (id: string): Promise<KeyItem[]> => (await readAllShards(database.limiters, id)) as KeyItem[];
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const crashingAt = (number: number, observe: () => Promise<void> = async () => undefined): Database => {
  let transactions = 0;
  return {
    ...database.database,
    transactWrite: async (input) => {
      if (++transactions > number) throw new Crash();
      await database.database.transactWrite(input);
      await observe();
    },
  };
};

const sweepAt = async (nowMs: number): Promise<void> => {
  await database.limiters.markSwept(epochOf(nowMs) - 1);
  const deps = { limiters: database.limiters, usage: database.usage, maxInFlightMs: 11 * MINUTE_MS, now: () => nowMs };
  expect(await sweepNow({ ...deps, hasTime: () => true, database: database.database })).toMatchObject({ complete: true });
};

describe('a key with more shards than a transaction has writes', () => {
  test('is created, changed, rotated and revoked as a whole', async () => {
    const { id, key } = await create(CONCURRENCY);
    const deps = accountStores(database);
    const items = await shardsOfKey(id);
    expect(items).toHaveLength(Math.ceil(CONCURRENCY / 12));
    expect(sum(items.map(({ lim_c = 0 }) => lim_c))).toBe(CONCURRENCY);
    const keys = makeCaller(database.limiters, () => START);
    for (let i = 0; i < 5; i++) expect(isAdmitted(await attempt(keys, key))).toBe(true);

    await updateApiKey(deps, admin, id, { limits: { concurrency: CONCURRENCY / 2 }, models: ['m'] });
    const changed = await shardsOfKey(id);
    expect(sum(changed.map(({ lim_c = 0 }) => lim_c))).toBe(CONCURRENCY / 2);
    // A shard can be guessed from another only if all have the same version.
    expect(new Set(changed.map(({ cfg, models, all_c, pending }) => JSON.stringify([cfg, models, all_c, pending])))).toEqual(
      new Set([JSON.stringify([changed[0]?.cfg, ['m'], CONCURRENCY / 2, undefined])]),
    );

    const { secret } = await rotateApiKey(deps, admin, id, { overlap_seconds: 0 });
    const rotated = parseSecret(secret) as PresentedKey;
    for (const item of await shardsOfKey(id)) expect(Buffer.from(item.h).equals(rotated.hash)).toBe(true);

    const warm = makeCaller(database.limiters, () => START);
    for (let i = 0; i < 20; i++) expect(isAdmitted(await attempt(warm, rotated))).toBe(true);
    await revokeApiKey(deps, admin, id);
    for (const item of await shardsOfKey(id)) expect(item.status).toBe('revoked');
    for (let i = 0; i < 20; i++) expect(await attempt(warm, rotated)).toMatchObject({ status: 401 });
  });

  test.each(['repeating the request', 'the sweep'])(
    'is repaired by %s if the function crashes at any point of a change',
    async (repair) => {
      const { id } = await create(1_200, { month: '500' });
      const sums: [number, bigint][] = [];
      const observe = async (): Promise<void> => {
        const items = await shardsOfKey(id);
        sums.push([sum(items.map(({ lim_c = 0 }) => lim_c)), items.reduce((total, { bud_m = 0 }) => total + BigInt(bud_m), 0n)]);
      };
      for (const [crashAt, concurrency, month] of [
        [1, 600, '300'],
        [2, 1_100, '400'],
        [3, 300, '500'],
        [4, 1_200, '450'],
      ] as const) {
        const before = await database.limiters.whole(id);
        const change = { limits: { concurrency }, budgets: { month } };
        sums.length = 0;
        await expect(updateApiKey(accountStores(database, crashingAt(crashAt, observe)), admin, id, change)).rejects.toThrow(Crash);
        // No mixture of old and new parts is more than the larger of the two limits.
        for (const [sumOfConcurrency, sumOfBudgets] of sums) {
          expect(sumOfConcurrency).toBeLessThanOrEqual(Math.max(before?.lim_c ?? 0, concurrency));
          const larger = BigInt(month) * DOLLAR > BigInt(before?.bud_m ?? 0) ? BigInt(month) * DOLLAR : BigInt(before?.bud_m ?? 0);
          expect(sumOfBudgets <= larger).toBe(true);
        }
        if (repair === 'the sweep') await sweepAt(START + 2 * MINUTE_MS);
        else await updateApiKey(accountStores(database), admin, id, change);
        const whole = await database.limiters.whole(id);
        expect(whole?.pending).toBeUndefined();
        expect([whole?.lim_c, BigInt(whole?.bud_m ?? 0)]).toEqual([concurrency, BigInt(month) * DOLLAR]);
        expect(new Set((await shardsOfKey(id)).map(({ cfg }) => cfg)).size).toBe(1);
      }
      await expect(revokeApiKey(accountStores(database, crashingAt(1)), admin, id)).rejects.toThrow(Crash);
      if (repair === 'the sweep') await sweepAt(START + 2 * MINUTE_MS);
      else await revokeApiKey(accountStores(database), admin, id);
      for (const item of await shardsOfKey(id)) expect(item.status).toBe('revoked');
    },
  );

  test('leaves nothing that can be used if the function crashes while it is created', async () => {
    const limits = { concurrency: 1_200, requests_per_minute: 600_000, tokens_per_minute: 1_000_000_000 };
    const body = NewApiKey.parse({ organization, name: 'crashed', limits });
    await expect(createApiKey(accountStores(database, crashingAt(1)), admin, body)).rejects.toThrow(Crash);
    const { keys } = await accountStores(database).apiKeys.list(organization, { limit: 100 } as never);
    expect(keys.filter(({ name }) => name === 'crashed')).toEqual([]);
  });
});

describe('the limits of a key with shards', () => {
  test.each([
    ['few', 48],
    ['many', 1_200],
  ])('can be lowered and raised while it has requests in flight: %s shards', async (_, concurrency) => {
    const { id, key } = await create(concurrency);
    const deps = accountStores(database);
    const keys: Keys = makeCaller(database.limiters, () => START);
    const admitted = (await Promise.all(Array.from({ length: 40 }, () => attempt(keys, key)))).filter(isAdmitted);
    expect(admitted).toHaveLength(40);
    await updateApiKey(deps, admin, id, { limits: { requests_per_minute: 40 } });
    // The counts move to where the new limit is if one transaction can change all shards.
    if (concurrency < 1_000) expect(await attempt(keys, key)).toMatchObject({ status: 429 });
    await updateApiKey(deps, admin, id, { limits: { requests_per_minute: 600_000, concurrency: 24 } });
    await Promise.all(admitted.slice(0, 30).map((admission) => release(keys, admission, usedTokens(1))));
    await updateApiKey(deps, admin, id, { limits: { concurrency } });
    const more = await Promise.all(
      Array.from({ length: 8 }, () =>
        attempt(
          makeCaller(database.limiters, () => START),
          key,
        ),
      ),
    );
    expect(more.filter(isAdmitted)).toHaveLength(8);
    for (const admission of [...admitted, ...more.filter(isAdmitted)]) await release(keys, admission, usedTokens(1));
    const whole = await database.limiters.whole(id);
    expect(whole).toMatchObject({ fl: {}, lim_c: concurrency });
    expect(await database.limiters.get(shardId(id, 1))).toMatchObject({ all_c: concurrency });
  });
});
