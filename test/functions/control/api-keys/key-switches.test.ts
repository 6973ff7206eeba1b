import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { type ApiKeyUpdate, NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { type KeyItem, mayFallBack, userLimitsOf } from '../../../../shared/admission/item/key-item.ts';
import { shardIds } from '../../../../shared/admission/item/shards.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const MANY_SHARDS = { concurrency: 96, requests_per_minute: 6_000, tokens_per_minute: 10_000_000 };
const NONE = { requests_per_minute: null, tokens_per_minute: null, concurrency: null, monthly_budget: null };

let database: TestDatabase;
let organization: string;
let owner: Actor;
let member: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  const stores = accountStores(database);
  const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW });
  ({ id: organization } = await createOrganization(stores, admin.origin, { name: 'Acme' }));
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW });
  member = await storeUser(stores, { role: 'member', organization, nowMs: NOW, maxApiKeys: 1_000 });
});
afterAll(() => database.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const create = (fields: object = {}, by = owner) => createApiKey(accountStores(database), by, NewApiKey.parse({ name: 'key', ...fields }));
const update = (id: string, fields: ApiKeyUpdate, by = owner) => updateApiKey(accountStores(database), by, id, fields);
const itemsOf = async (id: string): Promise<KeyItem[]> => {
  const { shards } = await accountStores(database).apiKeys.get(organization, id);
  return (await database.limiters.getMany(shardIds(id, shards))) as KeyItem[];
};

describe('the limits of the end users of a key', () => {
  test('are in each of its limiters, are replaced as a whole, and are removed by null', async () => {
    const key = await create({ limits: MANY_SHARDS, per_user: { requests_per_minute: 5, monthly_budget: '1.5' } });
    expect(key.per_user).toEqual({ ...NONE, requests_per_minute: 5, monthly_budget: '1.5' });
    const items = await itemsOf(key.id);
    expect(items.length).toBeGreaterThan(1);
    for (const item of items) expect(userLimitsOf(item)).toEqual({ requestsPerMinute: 5, monthlyBudgetNanos: 1_500_000_000n });
    const fewer = await update(key.id, { per_user: { ...NONE, concurrency: 2 } });
    expect(fewer.per_user).toEqual({ ...NONE, concurrency: 2 });
    for (const item of await itemsOf(key.id)) expect(userLimitsOf(item)).toEqual({ concurrency: 2 });
    await update(key.id, { name: 'renamed' });
    for (const item of await itemsOf(key.id)) expect(userLimitsOf(item)).toEqual({ concurrency: 2 });
    expect((await update(key.id, { per_user: null })).per_user).toBeNull();
    for (const item of await itemsOf(key.id)) expect(userLimitsOf(item)).toBeUndefined();
  });

  test('can be set and removed with `keys:limit` only', async () => {
    const rejected = { status: 403, param: 'per_user' };
    const per_user = { ...NONE, concurrency: 2 };
    await expect(create({ per_user }, member)).rejects.toMatchObject(rejected);
    const { id } = await create({ per_user: null }, member);
    await update(id, { per_user });
    await expect(update(id, { per_user: null }, member)).rejects.toMatchObject(rejected);
  });

  test.each([{}, { requests_per_minute: null }, { requests_per_minute: -1 }, { monthly_budget: 'much' }, { day: '1' }])(
    'are rejected if they are %j',
    (per_user) => {
      expect(NewApiKey.safeParse({ name: 'key', per_user }).success).toBe(false);
    },
  );
});

describe('the switch for fallbacks of a key', () => {
  test('is off by default, and its creator can change it', async () => {
    const { id, no_fallback } = await create({}, member);
    expect(no_fallback).toBe(false);
    expect((await itemsOf(id)).every(mayFallBack)).toBe(true);
    expect(await update(id, { no_fallback: true }, member)).toMatchObject({ no_fallback: true });
    expect((await itemsOf(id)).some(mayFallBack)).toBe(false);
    expect(await update(id, { name: 'renamed' }, member)).toMatchObject({ no_fallback: true });
    expect(await update(id, { no_fallback: false }, member)).toMatchObject({ no_fallback: false });
    expect((await itemsOf(id)).every(mayFallBack)).toBe(true);
  });
});
