import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { type ApiKeyUpdate, NewApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { updateApiKey } from '../../../../functions/control/api-keys/change-api-key.ts';
import { createApiKey } from '../../../../functions/control/api-keys/create-api-key.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { updateUser } from '../../../../functions/control/users/update-user.ts';
import type { KeyItem } from '../../../../shared/admission/item/key-item.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { acceptingUserPool, ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const TOMORROW = NOW / 1_000 + 86_400;
const NEXT_YEAR = NOW / 1_000 + 365 * 86_400;
const RACES = 12;

let database: TestDatabase;
let organization: string;
let owner: Actor;
let member: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  const stores = accountStores(database);
  const admin = await storeUser(stores, { role: 'admin', organization: null, nowMs: NOW });
  organization = (await createOrganization(stores, admin.origin, { name: 'Acme' })).id;
  owner = await storeUser(stores, { role: 'owner', organization, nowMs: NOW });
  member = await storeUser(stores, { role: 'member', organization, nowMs: NOW, maxApiKeys: 1_000 });
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const createKey = async (by: Actor, fields: object = {}): Promise<string> =>
  (await createApiKey(accountStores(database), by, NewApiKey.parse({ name: 'key', ...fields }))).id;
const update = (by: Actor, id: string, fields: ApiKeyUpdate, over: Database = database.database) =>
  updateApiKey(accountStores(database, over), by, id, fields);
const keyOf = (id: string) => accountStores(database).apiKeys.get(organization, id);
const itemOf = async (id: string): Promise<KeyItem> => (await database.limiters.get(id)) as KeyItem;

describe('a member', () => {
  test.each<[field: string, byOwner: ApiKeyUpdate, further: ApiKeyUpdate, beyond: ApiKeyUpdate[]]>([
    ['models', { models: ['a', 'b'] }, { models: ['a'] }, [{ models: null }, { models: ['a', 'c'] }]],
    ['expires_at', { expires_at: NEXT_YEAR }, { expires_at: TOMORROW }, [{ expires_at: null }, { expires_at: NEXT_YEAR + 1 }]],
    ['no_content', { no_content: true }, { no_content: true }, [{ no_content: false }]],
  ])('can restrict %s further than an owner, go back to what the owner set, and not beyond', async (param, byOwner, further, beyond) => {
    const id = await createKey(member);
    await update(owner, id, byOwner);
    for (const fields of [further, byOwner]) expect(await update(member, id, fields)).toMatchObject(fields);
    for (const fields of beyond)
      await expect(update(member, id, fields)).rejects.toMatchObject({
        status: 403,
        code: 'set_by_owner',
        param,
        message: expect.stringContaining('ask an owner'),
      });
    expect(await keyOf(id)).toMatchObject({ ...byOwner, owner_restrictions: byOwner });
    // Other fields stay the member's own.
    expect(await update(member, id, { name: 'mine' })).toMatchObject({ name: 'mine', ...byOwner });
  });

  test('can undo what they set themselves, and everything once an owner has removed a restriction', async () => {
    const id = await createKey(member, { models: ['a'], expires_at: TOMORROW, no_content: true });
    const none = { models: null, expires_at: null, no_content: false };
    expect(await update(member, id, none)).toMatchObject({ ...none, owner_restrictions: none });
    await update(owner, id, { models: ['a'], no_content: true });
    await update(owner, id, { models: null });
    await update(member, id, { models: ['a'] });
    expect(await update(member, id, { models: null })).toMatchObject({ models: null });
    await expect(update(member, id, { no_content: false })).rejects.toMatchObject({ code: 'set_by_owner', param: 'no_content' });
  });

  test('cannot loosen a key from before it was recorded who set what', async () => {
    const id = await createKey(member, { models: ['a'] });
    await database.database.update({
      TableName: database.tables.Accounts as string,
      Key: { account: organization, record: `key#${id}` },
      UpdateExpression: 'REMOVE owner_restrictions',
    });
    await expect(update(member, id, { models: null })).rejects.toMatchObject({ code: 'set_by_owner' });
    expect(await update(owner, id, { models: null })).toMatchObject({ models: null });
  });

  test('cannot undo a restriction with a change that was checked before it', async () => {
    for (let race = 0; race < RACES; race++) {
      const id = await createKey(member, { models: ['a', 'b'] });
      // The owner's change comes in between the member's check and write.
      const late: Database = {
        ...database.database,
        transactWrite: async (input) => {
          await update(owner, id, { models: ['a'] });
          await database.database.transactWrite(input);
        },
      };
      await expect(update(member, id, { models: null }, late)).rejects.toMatchObject({ status: 412 });
      expect([(await keyOf(id)).models, (await itemOf(id)).models]).toEqual([['a'], ['a']]);
    }
  });

  test('who was an owner when a change was checked cannot loosen a key any more', async () => {
    const stores = accountStores(database);
    const id = await createKey(member);
    await update(owner, id, { models: ['a'] });
    const other = await storeUser(stores, { role: 'owner', organization, nowMs: NOW });
    const deps = { ...stores, userPool: acceptingUserPool, issuer: ISSUER };
    const late: Database = {
      ...database.database,
      transactWrite: async (input) => {
        await updateUser(deps, owner, other.userId, { role: 'member' });
        await database.database.transactWrite(input);
      },
    };
    await expect(update(other, id, { models: null }, late)).rejects.toMatchObject({ status: 403, code: 'rights_changed' });
    expect(await keyOf(id)).toMatchObject({ models: ['a'] });
  });
});
