import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { OrganizationUpdate, updateOrganization } from '../../../../functions/control/organizations/update-organization.ts';
import type { Admission } from '../../../../functions/inference/admission/admit.ts';
import { type KeyItem, mayStore } from '../../../../shared/admission/item/key-item.ts';
import { type PresentedKey, parseSecret } from '../../../../shared/admission/item/secret.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { attempt, makeCaller } from '../../../support/fixtures/callers.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';
import { sized } from '../../../support/sized.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
// The concurrency of a key with so many limiter items that several transactions change them.
const MANY = sized(2_400, 10_000);

let database: TestDatabase;
let organization: string;
let admin: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  admin = await storeUser(accountStores(database), { role: 'admin', organization: null, nowMs: NOW });
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  organization = (await createOrganization(accountStores(database), admin.origin, { name: 'Acme' })).id;
});
afterAll(async () => {
  await database.close();
});

const create = async (concurrency = 10, over?: Database) => {
  const limits = { concurrency, requests_per_minute: 6_000, tokens_per_minute: 1_000_000_000 };
  const body = NewApiKey.parse({ organization, name: 'k', limits });
  const { id, secret } = await createApiKey(accountStores(database, over), admin, body);
  return { id, key: parseSecret(secret) as PresentedKey };
};

const set = (no_content: boolean, over?: Database) =>
  updateOrganization(accountStores(database, over), admin, organization, OrganizationUpdate.parse({ no_content }));
const current = () => accountStores(database).organizations.get(organization);

// As each limiter item of the key says.
const settingsOf = async (id: string): Promise<boolean[]> => ((await readAllShards(database.limiters, id)) as KeyItem[]).map(mayStore);

// Something happens before the n-th call of a kind.
const meanwhile = (kind: 'transactWrite' | 'update' | 'query', number: number, happening: () => Promise<unknown>): Database => {
  let calls = 0;
  const call = async (input: never): Promise<never> => {
    if (++calls === number) await happening();
    return (await database.database[kind](input)) as never;
  };
  return { ...database.database, [kind]: call };
};

const crash = async (): Promise<never> => {
  throw new Crash();
};

describe('an organization that forbids the storage of content', () => {
  test.each([
    ['one limiter item', 10],
    ['several shards', 96],
    ['more shards than a transaction has writes', MANY],
  ])('forbids it for the next request of a key with %s in every environment, and allows it again', async (_, concurrency) => {
    const { id, key } = await create(concurrency);
    const environments = Array.from({ length: 3 }, () => makeCaller(database.limiters, () => NOW));
    const decisions = async (): Promise<boolean[]> => {
      const found: boolean[] = [];
      for (const keys of environments) found.push(((await attempt(keys, key)) as Admission).mayStore);
      return [...new Set(found)];
    };
    expect(await decisions()).toEqual([true]);
    expect(await set(true)).toMatchObject({ no_content: true, no_content_pending: false });
    expect(await decisions()).toEqual([false]);
    expect([...new Set(await settingsOf(id))]).toEqual([false]);
    await set(false);
    expect(await decisions()).toEqual([true]);
    expect([...new Set(await settingsOf(id))]).toEqual([true]);
  });

  test('forbids it for new keys from their first request on', async () => {
    await set(true);
    const { key } = await create();
    expect(
      await attempt(
        makeCaller(database.limiters, () => NOW),
        key,
      ),
    ).toMatchObject({ mayStore: false });
  });

  test('leaves the setting of each key alone', async () => {
    const { id } = await create();
    await updateApiKey(accountStores(database), admin, id, { no_content: true });
    await set(true);
    await set(false);
    expect(await settingsOf(id)).toEqual([false]);
    await updateApiKey(accountStores(database), admin, id, { no_content: false });
    expect(await settingsOf(id)).toEqual([true]);
    await set(true);
    await updateApiKey(accountStores(database), admin, id, { no_content: false, name: 'new' });
    expect(await settingsOf(id)).toEqual([false]);
  });

  test.each([
    [
      'before the creation',
      () =>
        create(
          10,
          meanwhile('transactWrite', 1, () => set(true)),
        ),
    ],
    [
      'before a creation whose first items exist',
      () =>
        create(
          MANY,
          meanwhile('transactWrite', 2, () => set(true)),
        ),
    ],
  ])('misses no key if it changes %s is written', async (_, creating) => {
    const { id } = await creating();
    expect([...new Set(await settingsOf(id))]).toEqual([false]);
  });

  test('misses no key that is created before its keys are listed', async () => {
    let id = '';
    await set(
      true,
      meanwhile('query', 1, async () => {
        ({ id } = await create());
      }),
    );
    expect(await settingsOf(id)).toEqual([false]);
  });

  test('misses none of many keys that are created meanwhile', async () => {
    const [, ...keys] = await Promise.all([set(true), ...Array.from({ length: 12 }, () => create())]);
    for (const { id } of keys) expect(await settingsOf(id)).toEqual([false]);
  });

  test('says that the change is pending if it breaks off, until it is repeated', async () => {
    const keys = [await create(), await create()];
    await expect(set(true, meanwhile('update', 2, crash))).rejects.toThrow();
    expect(await current()).toMatchObject({ no_content: true, no_content_pending: true });
    expect(await set(true)).toMatchObject({ no_content_pending: false });
    expect(await current()).toMatchObject({ no_content: true, no_content_pending: false });
    for (const { id } of keys) expect(await settingsOf(id)).toEqual([false]);
  });

  test('keeps its last setting if an earlier change continues late', async () => {
    const { id } = await create();
    const late = await set(
      true,
      meanwhile('update', 1, () => set(false)),
    ).catch(() => undefined);
    expect(late).toBeDefined();
    expect(await settingsOf(id)).toEqual([true]);
    expect(await current()).toMatchObject({ no_content: false, no_content_pending: false });
  });

  test('does not complete a later change that broke off', async () => {
    await create();
    await set(
      true,
      meanwhile('update', 1, () => set(false, meanwhile('update', 1, crash)).catch(() => undefined)),
    );
    expect(await current()).toMatchObject({ no_content: false, no_content_pending: true });
  });

  test('reaches all shards of a key that is being changed', async () => {
    const { id } = await create(10_000);
    const stores = accountStores(
      database,
      meanwhile('transactWrite', 3, () => set(true)),
    );
    await updateApiKey(stores, admin, id, { models: ['m'] });
    expect([...new Set(await settingsOf(id))]).toEqual([false]);
  });
});

test('an update of an organization must have a field', () => {
  expect(OrganizationUpdate.safeParse({}).success).toBe(false);
});
