import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createScimStore, type ScimUserRow } from '../../../../functions/control/scim/scim-store.ts';
import { changeUser } from '../../../../functions/control/users/remove-access.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { createScimWorld, type ScimReply, type ScimTenant, type ScimWorld } from './scim-world.ts';

const MAX_TRIES = 5;

let database: TestDatabase;
let world: ScimWorld;
let tenant: ScimTenant;
let user: string;
let group: string;
let tries = 0;
// Made before each of the first tries.
let competing: { change: () => Promise<unknown>; times: number } | undefined;
beforeAll(async () => {
  database = await startTestDatabase();
  const contended: Database = {
    ...database.database,
    transactWrite: async (input) => {
      if (competing && ++tries <= competing.times) await competing.change();
      await database.database.transactWrite(input);
    },
  };
  world = await createScimWorld(database, contended);
  tenant = await world.createTenant();
});
afterAll(() => database.close());
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  user = await tenant.createUser(`${newId('user').toLowerCase()}@${tenant.domain}`);
  group = (await tenant.send('POST', '/Groups', { displayName: 'Sluice viewers' })).body.id;
});

const renameUser = () => changeUser({ ...world.deps, ...accountStores(database) }, tenant.owner, user, { name: `Grace ${tries}` });

const changeScimUser = async (): Promise<void> => {
  const scim = createScimStore(createRecordTable(database.database, String(database.tables.Accounts)));
  const row = (await scim.findUser(tenant.provider.id, user)) as ScimUserRow;
  await transact(database.database, [scim.toReplaceUser(tenant.provider.id, { ...row, external_id: `id-${tries}` })]);
};

const addWhile = async (change: () => Promise<unknown>, times: number): Promise<ScimReply> => {
  tries = 0;
  competing = { change, times };
  const reply = await tenant.send('PATCH', `/Groups/${group}`, { Operations: [{ op: 'add', path: 'members', value: [{ value: user }] }] });
  competing = undefined;
  return reply;
};

const roleOf = async (): Promise<string | undefined> => (await world.deps.users.get(user))?.role;

describe.each([
  ['by an owner', renameUser],
  ['by their identity provider', changeScimUser],
])('a change of the groups of a user who is changed at the same time %s', (_, change) => {
  test('is made at the fifth try, and leaves the other changes', async () => {
    expect((await addWhile(change, MAX_TRIES - 1)).status).toBe(204);
    expect([tries, await roleOf()]).toEqual([MAX_TRIES, 'viewer']);
    const { body } = await tenant.send('GET', `/Users/${user}`);
    expect(body.groups).toEqual([{ value: group, display: 'Sluice viewers' }]);
    const others = [(await world.deps.users.get(user))?.name, body.externalId];
    expect(others).toContain(change === renameUser ? 'Grace 4' : 'id-4');
  });

  test('is given up after five tries, changes nothing, and can be repeated', async () => {
    expect(await addWhile(change, Number.POSITIVE_INFINITY)).toMatchObject({ status: 412, body: { status: '412' } });
    expect([tries, await roleOf()]).toEqual([MAX_TRIES, 'member']);
    expect((await tenant.send('GET', `/Groups/${group}`)).body.members).toEqual([]);
    expect((await addWhile(change, 0)).status).toBe(204);
    expect(await roleOf()).toBe('viewer');
  });
});
