import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import type { IdentityProvider } from '../../../shared/single-sign-on/identity-provider.ts';
import {
  createIdentityProviderStore,
  type IdentityProviderStore,
  MAX_PROVIDERS,
} from '../../../shared/single-sign-on/identity-provider-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { identityProvider } from './identity-providers.ts';

let emulator: TestDatabase;
let providers: IdentityProviderStore;

beforeAll(async () => {
  emulator = await startTestDatabase();
  providers = createIdentityProviderStore(createRecordTable(emulator.database, emulator.tables.Accounts as string));
});
afterAll(() => emulator.close());

const create = async (fields: Partial<IdentityProvider>): Promise<IdentityProvider> => {
  const provider = identityProvider(fields);
  await transact(emulator.database, providers.toCreate(provider));
  return provider;
};

describe('createIdentityProviderStore', () => {
  test('finds a connection in its own organization only', async () => {
    const provider = await create({ organization: 'org_1' });
    expect(await providers.find('org_1', provider.id)).toEqual(provider);
    expect(await providers.find('org_2', provider.id)).toBeUndefined();
  });

  test('limits the connections of an organization, until one is deleted', async () => {
    const [first] = await Promise.all(Array.from({ length: MAX_PROVIDERS }, () => create({ organization: 'org_3' })));
    await expect(create({ organization: 'org_3' })).rejects.toMatchObject({ code: 'too_many_identity_providers' });
    expect(await providers.list('org_3')).toHaveLength(MAX_PROVIDERS);
    await transact(emulator.database, providers.toDelete(first as IdentityProvider));
    await create({ organization: 'org_3' });
  });

  test('gives a domain to one connection, and finds it by the exact name', async () => {
    const [first, second] = [await create({ organization: 'org_4' }), await create({ organization: 'org_5' })];
    await transact(emulator.database, [providers.toHoldDomain(first, 'example.com')]);
    await expect(transact(emulator.database, [providers.toHoldDomain(second, 'example.com')])).rejects.toMatchObject({
      code: 'domain_taken',
    });
    expect(await providers.ofDomain('example.com')).toEqual(first);
    for (const other of ['sub.example.com', 'notexample.com', 'example.com.', 'com'])
      expect(await providers.ofDomain(other)).toBeUndefined();
    await transact(emulator.database, [providers.toReleaseDomain('example.com')]);
    await transact(emulator.database, [providers.toHoldDomain(second, 'example.com')]);
    expect(await providers.ofDomain('example.com')).toEqual(second);
  });

  test('closes passwords while an active connection is enforced', async () => {
    expect(await providers.passwordRule('org_6')).toEqual({ isClosed: false, breakGlass: [] });
    const provider = await create({ organization: 'org_6', enforced: true, break_glass: 'user_ada' });
    await create({ organization: 'org_6' });
    expect(await providers.passwordRule('org_6')).toEqual({ isClosed: true, breakGlass: ['user_ada'] });
    await transact(emulator.database, [providers.toReplace({ ...provider, status: 'disabled' })]);
    expect(await providers.passwordRule('org_6')).toEqual({ isClosed: false, breakGlass: [] });
  });
});
