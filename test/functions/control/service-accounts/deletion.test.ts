import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createRule } from '../../../../functions/control/federation-rules/manage-rules.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createServiceAccount, deleteServiceAccount } from '../../../../functions/control/service-accounts/manage-service-accounts.ts';
import { createSecret } from '../../../../functions/control/service-accounts/secrets.ts';
import { NewSecret, NewServiceAccount } from '../../../../functions/control/service-accounts/service-account.ts';
import type { Database } from '../../../../shared/database/database.ts';
import type { SignInEvent } from '../../../../shared/federation/sign-in-events.ts';
import { createNetworks } from '../../../../shared/network/networks.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { acceptingUserPool, storeUser } from '../../../support/fixtures/stored-users.ts';
import { serviceAccountStores } from './service-account-stores.ts';

const EVENT: SignInEvent = {
  ...{ object: 'sign_in_event', at: 1, outcome: 'accepted', reason: null, federation_rule: 'fed_1', is_verified: true },
  ...{ api_key: null, subject: 'repo:acme/web', differing_claims: [], ip_address: '192.0.2.1', request_id: 'req_1' },
};

let database: TestDatabase;
let deps: ReturnType<typeof dependencies>;
let owner: Actor;
let id: string;
beforeAll(async () => {
  database = await startTestDatabase();
  deps = dependencies(await database.as('control'));
});
afterAll(() => database.close());
beforeEach(async () => {
  const admin = await storeUser(deps, { role: 'admin', organization: null });
  owner = await storeUser(deps, { role: 'owner', organization: (await createOrganization(deps, admin.origin, { name: 'Acme' })).id });
  id = await createWithEverything();
});

const dependencies = (client: Database) => ({
  ...serviceAccountStores(database, client),
  networks: createNetworks(''),
  userPool: { ...acceptingUserPool, createSilentUser: async () => ({ subject: newId('user'), isNew: true }) },
});

const addSecret = (account: string) => createSecret(deps, owner, account, NewSecret.parse({}));
const addRule = (account: string, issuer = 'https://issuer.example') => {
  const rule = { issuer, audience: 'https://control.example.com', subject: null, claims: { team: '7' }, api_key: null, description: null };
  return createRule(deps, owner, account, rule);
};
const create = async (): Promise<string> => (await createServiceAccount(deps, owner, NewServiceAccount.parse({ name: 'ci' }))).id;
const createWithEverything = async (): Promise<string> => {
  const account = await create();
  for (let i = 0; i < 2; i++) await addSecret(account);
  for (let i = 0; i < 3; i++) await addRule(account, `https://issuer${i}.example`);
  for (const is_verified of [true, false])
    for (let i = 0; i < 3; i++) await serviceAccountStores(database).signInEvents.add(account, { ...EVENT, is_verified });
  return account;
};

const deleteWith = (client: Partial<Database>) =>
  deleteServiceAccount({ ...deps, ...dependencies({ ...database.database, ...client }) }, owner, id, { revokes: false });
const rowsOf = (account: string) => Array.fromAsync(deps.accounts.allOf(account));
const issuers = async () => (await deps.rules.issuersOf(owner.organization)).rules;

describe('the deletion of a service account', () => {
  test('leaves none of its secrets, rules and events, and all of those of another one', async () => {
    const other = await create();
    await addSecret(other);
    await addRule(other);
    const kept = await rowsOf(other);
    expect((await rowsOf(id)).length).toBeGreaterThan(12);
    expect(await deleteServiceAccount(deps, owner, id, { revokes: false })).toMatchObject({ id, deleted: true });
    expect(await rowsOf(id)).toEqual([]);
    expect(await rowsOf(other)).toEqual(kept);
    expect(await issuers()).toEqual({ 'https://issuer.example': 1 });
  });

  test('is completed by its repetition after a crash, and then leaves nothing', async () => {
    const transactWrite = () => Promise.reject(new Crash());
    await expect(deleteWith({ transactWrite })).rejects.toThrow(Crash);
    expect(await deps.serviceAccounts.secretsOf(id)).toHaveLength(2);
    await deleteServiceAccount(deps, owner, id, { revokes: false });
    expect(await rowsOf(id)).toEqual([]);
  });

  test('leaves no events if it crashes as soon as the account is deleted', async () => {
    const transactWrite: Database['transactWrite'] = async (input) => {
      await database.database.transactWrite(input);
      throw new Crash();
    };
    await expect(deleteWith({ transactWrite })).rejects.toThrow(Crash);
    expect(await rowsOf(id)).toEqual([]);
  });

  test.each([
    ['secret', addSecret],
    ['rule', addRule],
  ])('fails if a %s is created at the same time, which its repetition deletes', async (_, add) => {
    id = await create();
    let isAdded = false;
    const transactWrite: Database['transactWrite'] = async (input) => {
      if (!isAdded) await add(id);
      isAdded = true;
      await database.database.transactWrite(input);
    };
    const outcome = await deleteWith({ transactWrite }).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ status: 412 });
    await deleteServiceAccount(deps, owner, id, { revokes: false });
    expect(await rowsOf(id)).toEqual([]);
  });

  test('lets a late request create neither a secret nor a rule', async () => {
    const stale = (await deps.serviceAccounts.find(id)) as NonNullable<Awaited<ReturnType<typeof deps.serviceAccounts.find>>>;
    await deleteServiceAccount(deps, owner, id, { revokes: false });
    const before = await issuers();
    const late = { ...deps, serviceAccounts: { ...deps.serviceAccounts, find: async () => stale } };
    const rule = { issuer: 'https://issuer.example', audience: 'a', subject: 'one', claims: {}, api_key: null, description: null };
    await expect(createRule(late, owner, id, rule)).rejects.toMatchObject({ status: 404 });
    await expect(createSecret(late, owner, id, NewSecret.parse({}))).rejects.toMatchObject({ status: 412 });
    expect([await rowsOf(id), await issuers()]).toEqual([[], before]);
  });

  test('deletes events of exchanges that ended while it was made', async () => {
    const transactWrite: Database['transactWrite'] = async (input) => {
      await serviceAccountStores(database).signInEvents.add(id, EVENT);
      await database.database.transactWrite(input);
    };
    await deleteWith({ transactWrite });
    expect(await rowsOf(id)).toEqual([]);
  });
});
