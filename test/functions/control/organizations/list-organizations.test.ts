import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { listOrganizations, OrganizationsQuery } from '../../../../functions/control/organizations/list-organizations.ts';
import { setSuspended } from '../../../../functions/control/organizations/update-organization.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { storeUser } from '../../../support/fixtures/stored-users.ts';

let database: TestDatabase;
let acme: string;
let globex: string;
beforeAll(async () => {
  database = await startTestDatabase();
  const stores = accountStores(database);
  const { origin } = await storeUser(stores, { role: 'admin', organization: null });
  acme = (await createOrganization(stores, origin, { name: 'Acme Corporation' })).id;
  globex = (await createOrganization(stores, origin, { name: 'Globex' })).id;
  await setSuspended(stores, origin, globex, { isSuspended: true, reason: 'Overdue.' });
});
afterAll(() => database.close());

const idsOf = async (query: object): Promise<string[]> =>
  (await listOrganizations(accountStores(database), OrganizationsQuery.parse(query))).data.map(({ id }) => id);

describe('listOrganizations', () => {
  test('finds organizations by a part of their name and id, in any case', async () => {
    // The first characters of an id are its time, and both were created in one moment: a part of it is from its end.
    for (const q of ['acme', 'CORP', acme, acme.slice(-11)]) expect(await idsOf({ q })).toEqual([acme]);
    expect((await idsOf({})).toSorted()).toEqual([acme, globex].toSorted());
  });

  test('finds organizations by status', async () => {
    expect(await idsOf({ status: 'suspended' })).toEqual([globex]);
    expect(await idsOf({ status: 'suspended', q: 'acme' })).toEqual([]);
  });
});
