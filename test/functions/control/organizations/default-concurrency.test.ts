import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { revokeApiKey, updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { OrganizationLimits } from '../../../../functions/control/limits/limits.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createOrganizationStore } from '../../../../functions/control/organizations/organization-store.ts';
import {
  applyDefaultConcurrency,
  limitOrganization,
  setSuspended,
} from '../../../../functions/control/organizations/update-organization.ts';
import { isOrganizationLimited, type KeyItem } from '../../../../shared/admission/item/key-item.ts';
import { type LimiterItem, limitsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

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

// Rows of earlier releases don't say whether an admin has set the concurrency.
const makeOlder = async (id: string, concurrency: number): Promise<void> => {
  await database.database.update({
    TableName: database.tables.Accounts as string,
    Key: { account: id, record: 'organization' },
    UpdateExpression: 'SET limits.concurrency = :concurrency REMOVE has_default_concurrency',
    ConditionExpression: 'attribute_exists(account)',
    ExpressionAttributeValues: { ':concurrency': concurrency },
  });
};
const shown = async (id: string) => {
  const { limits, has_default_concurrency } = await stores.organizations.get(id);
  return [limits?.concurrency, has_default_concurrency];
};
const limit = (id: string, limits: object) => limitOrganization(stores, admin.origin, id, OrganizationLimits.parse(limits));
const apply = (id: string, deps = stores) =>
  deps.organizations.get(id).then((organization) => applyDefaultConcurrency(deps, admin.origin, organization));

describe('a new organization', () => {
  test('can have 100 concurrent requests, and no limiter while its keys together cannot exceed them', async () => {
    const id = await newOrganization();
    expect((await stores.organizations.get(id)).limits).toMatchObject({ concurrency: 100, requests_per_minute: null, prepaid: false });
    const keys = [await create(id), await create(id, 68)];
    expect([await limiterOf(id), await areLimited(keys)]).toEqual([undefined, [false, false]]);
    keys.push(await create(id, 1));
    expect([await concurrencyOf(id), await areLimited(keys)]).toEqual([100, [true, true, true]]);
    keys.push(await create(id));
    expect((await areLimited(keys)).at(-1)).toBe(true);
    expect((await actionsOf(id)).filter((action) => action === 'organization.limited')).toHaveLength(1);
  });

  test('gets its limiter when a key is raised, but not when one is lowered', async () => {
    const id = await newOrganization();
    const keys = [await create(id, 50), await create(id, 50)];
    const set = (key: string, concurrency: number) => updateApiKey(stores, admin, key, { limits: { concurrency } });
    await set(keys[0] as string, 40);
    expect(await limiterOf(id)).toBeUndefined();
    // Requests that are in flight when a limit is lowered still count.
    await set(keys[0] as string, 41);
    expect([await concurrencyOf(id), await areLimited(keys)]).toEqual([100, [true, true]]);
  });

  test('gets its limiter although other keys were revoked, whose requests can be in flight', async () => {
    const id = await newOrganization();
    await revokeApiKey(stores, admin, await create(id, 100));
    const key = await create(id, 1);
    expect([await concurrencyOf(id), await areLimited([key])]).toEqual([100, [true]]);
  });

  test('gets its limiter at once with a key that could exceed it alone', async () => {
    const id = await newOrganization();
    const key = await create(id, 5_000);
    expect([await concurrencyOf(id), await areLimited([key])]).toEqual([100, [true]]);
  });

  test('gets its limiter before its keys can have more than 100 requests, even if created concurrently', async () => {
    for (let round = 0; round < 4; round++) {
      const id = await newOrganization();
      const results = await Promise.allSettled(Array.from({ length: 6 }, () => create(id, 30)));
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 503 });
      const keys = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      if (await limiterOf(id)) expect(new Set(await areLimited(keys))).toEqual(new Set([true]));
      else expect(keys.length).toBeLessThanOrEqual(3);
      // A rejected request can be repeated.
      await create(id, 30);
      await create(id, 30);
    }
  });
});

test('an organization from before its keys were added up gets its limiter with the next key', async () => {
  const id = await newOrganization();
  const first = await create(id);
  await database.database.delete({ TableName: database.tables.Accounts as string, Key: { account: id, record: 'keys-concurrency' } });
  const second = await create(id);
  expect([await concurrencyOf(id), await areLimited([first, second])]).toEqual([100, [true, true]]);
});

describe('the default concurrency', () => {
  test('is what the deployer has set', async () => {
    const accounts = createRecordTable(database.database, database.tables.Accounts as string);
    const smaller = { ...stores, organizations: createOrganizationStore(accounts, 5) };
    const { id } = await createOrganization(smaller, admin.origin, { name: 'Acme' });
    const key = await createApiKey(smaller, admin, NewApiKey.parse({ name: 'key', organization: id }));
    expect([await shown(id), await concurrencyOf(id), await areLimited([key.id])]).toEqual([[5, true], 5, [true]]);
  });

  test('gives way to a number that an admin sets, and returns when the limits are set without one', async () => {
    const id = await newOrganization();
    await limit(id, { concurrency: 300 });
    expect([await shown(id), await concurrencyOf(id), await apply(id)]).toEqual([[300, false], 300, false]);
    await limit(id, { month_budget: '5' });
    expect([await shown(id), await concurrencyOf(id)]).toEqual([[100, true], 100]);
  });

  test('reaches organizations of earlier releases, but none whose number an admin has set', async () => {
    const [free, busy, limited, set, exact] = (await Promise.all(Array.from({ length: 5 }, newOrganization))) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const keys = [await create(busy, 60), await create(busy, 40)];
    await makeOlder(free, 1_000);
    await makeOlder(busy, 1_000);
    await database.database.update({
      TableName: database.tables.Accounts as string,
      Key: { account: busy, record: 'keys-concurrency' },
      UpdateExpression: 'SET #count = :count',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':count': 500 },
    });
    await limit(limited, { concurrency: 1_000, requests_per_minute: 600 });
    await makeOlder(limited, 1_000);
    await limit(set, { concurrency: 400 });
    await makeOlder(set, 400);
    await limit(exact, { concurrency: 1_000 });
    expect(await Promise.all([free, busy, limited, set, exact].map((id) => apply(id)))).toEqual([true, true, true, false, false]);
    expect(await Promise.all([free, busy, limited, set, exact].map(shown))).toEqual([
      [100, true],
      [100, true],
      [100, true],
      [400, false],
      [1_000, false],
    ]);
    expect([await limiterOf(free), await concurrencyOf(busy), await areLimited(keys)]).toEqual([undefined, 100, [true, true]]);
    expect([await concurrencyOf(limited), await concurrencyOf(set), await concurrencyOf(exact)]).toEqual([100, 400, 1_000]);
    expect((await stores.organizations.get(limited)).limits).toMatchObject({ requests_per_minute: 600 });
    expect(await Promise.all([free, busy, limited].map((id) => apply(id)))).toEqual([false, false, false]);
  });

  test('is the current one when an organization of an earlier release gets its limiter', async () => {
    const [grown, suspended] = [await newOrganization(), await newOrganization()];
    for (const id of [grown, suspended]) await makeOlder(id, 1_000);
    await create(grown, 101);
    await setSuspended(stores, admin.origin, suspended, { isSuspended: true, reason: 'Overdue.' });
    expect([await concurrencyOf(grown), await concurrencyOf(suspended), await shown(grown)]).toEqual([100, 100, [100, true]]);
  });
});
