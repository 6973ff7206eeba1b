import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey, updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { isOrganizationLimited, type KeyItem } from '../../../../shared/admission/key-item.ts';
import { type LimiterItem, limitsOf } from '../../../../shared/admission/limiter-item.ts';
import { accountStores } from '../../../support/account-stores.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/database.ts';
import { storeUser } from '../../../support/stored-users.ts';

let database: TestDatabase;
let admin: Actor;
let stores: ReturnType<typeof accountStores>;
beforeAll(async () => {
  database = await startTestDatabase();
  stores = accountStores(database);
  admin = await storeUser(stores, { role: 'admin', organization: null });
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const newOrganization = async (): Promise<string> => (await createOrganization(stores, admin.origin, { name: 'Acme' })).id;
const create = async (organization: string, concurrency?: number): Promise<string> => {
  const limits = concurrency === undefined ? {} : { limits: { concurrency } };
  return (await createApiKey(stores, admin, NewApiKey.parse({ name: 'key', organization, ...limits }))).id;
};
const limiterOf = (organization: string) => database.limiters.get(organization);
const concurrencyOf = async (organization: string): Promise<number> => limitsOf((await limiterOf(organization)) as LimiterItem).concurrency;
const areLimited = async (keys: readonly string[]): Promise<boolean[]> =>
  Promise.all(keys.map(async (id) => isOrganizationLimited((await database.limiters.get(id)) as KeyItem)));
const actionsOf = async (organization: string): Promise<string[]> =>
  (await stores.audit.list(organization, { limit: 100 })).data.map(({ action }) => action);

describe('a new organization', () => {
  test('can have 1,000 concurrent requests, which costs no limiter while its keys together cannot have more', async () => {
    const id = await newOrganization();
    expect((await stores.organizations.get(id)).limits).toMatchObject({ concurrency: 1_000, requests_per_minute: null, prepaid: false });
    const keys = [await create(id), await create(id, 968)];
    expect([await limiterOf(id), await areLimited(keys)]).toEqual([undefined, [false, false]]);
    keys.push(await create(id, 1));
    expect([await concurrencyOf(id), await areLimited(keys)]).toEqual([1_000, [true, true, true]]);
    keys.push(await create(id));
    expect((await areLimited(keys)).at(-1)).toBe(true);
    expect((await actionsOf(id)).filter((action) => action === 'organization.limited')).toHaveLength(1);
  });

  test('gets its limiter when a key is raised, but not when one is lowered', async () => {
    const id = await newOrganization();
    const keys = [await create(id, 500), await create(id, 500)];
    const set = (key: string, concurrency: number) => updateApiKey(stores, admin, key, { limits: { concurrency } });
    await set(keys[0] as string, 400);
    expect(await limiterOf(id)).toBeUndefined();
    // Requests that are in flight when a limit is lowered still count.
    await set(keys[0] as string, 401);
    expect([await concurrencyOf(id), await areLimited(keys)]).toEqual([1_000, [true, true]]);
  });

  test('gets its limiter although other keys were revoked, whose requests can be in flight', async () => {
    const id = await newOrganization();
    await revokeApiKey(stores, admin, await create(id, 1_000));
    const key = await create(id, 1);
    expect([await concurrencyOf(id), await areLimited([key])]).toEqual([1_000, [true]]);
  });

  test('gets its limiter at once with a key that could exceed it alone', async () => {
    const id = await newOrganization();
    const key = await create(id, 5_000);
    expect([await concurrencyOf(id), await areLimited([key])]).toEqual([1_000, [true]]);
  });

  test('never has keys for more than 1,000 concurrent requests without a limiter, however many are created at the same time', async () => {
    for (let round = 0; round < 4; round++) {
      const id = await newOrganization();
      const results = await Promise.allSettled(Array.from({ length: 6 }, () => create(id, 300)));
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 503 });
      const keys = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      if (await limiterOf(id)) expect(new Set(await areLimited(keys))).toEqual(new Set([true]));
      else expect(keys.length).toBeLessThanOrEqual(3);
      // A rejected request can be repeated.
      await create(id, 300);
      await create(id, 300);
    }
  });
});

test('an organization from before its keys were added up gets its limiter with the next key', async () => {
  const id = await newOrganization();
  const first = await create(id);
  await database.database.delete({ TableName: database.tables.Accounts as string, Key: { account: id, record: 'keys-concurrency' } });
  const second = await create(id);
  expect([await concurrencyOf(id), await areLimited([first, second])]).toEqual([1_000, [true, true]]);
});
