import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { notifyExpiringSecrets } from '../../../../functions/billing/due/notify-expiring-secrets.ts';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import {
  createServiceAccount,
  deleteServiceAccount,
  updateServiceAccount,
} from '../../../../functions/control/service-accounts/manage-service-accounts.ts';
import { createSecret, deleteSecret } from '../../../../functions/control/service-accounts/secrets.ts';
import { NewServiceAccount } from '../../../../functions/control/service-accounts/service-account.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createOutbox, OUTBOX_PREFIX } from '../../../../shared/notifications/outbox.ts';
import { createSecretExpiries } from '../../../../shared/service-accounts/secret-expiries.ts';
import { createServiceAccountStore } from '../../../../shared/service-accounts/service-account-store.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { acceptingUserPool, storeUser } from '../../../support/fixtures/stored-users.ts';
import { serviceAccountStores } from '../../control/service-accounts/service-account-stores.ts';

const DAY_SECONDS = DAY_MS / SECOND_MS;
const LIFETIME = { expires_in_seconds: 90 * DAY_SECONDS };
const NOTICE_DAYS = 14;

let database: TestDatabase;
let client: Database;
let deps: ReturnType<typeof dependencies>;
let admin: Actor;
let owner: Actor;
beforeAll(async () => {
  database = await startTestDatabase();
  client = await database.as('billing');
  deps = dependencies(await database.as('control'));
  admin = await storeUser(deps, { role: 'admin', organization: null });
});
afterAll(() => database.close());
afterEach(() => {
  jest.restoreAllMocks();
});
beforeEach(async () => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  owner = await storeUser(deps, { role: 'owner', organization: (await createOrganization(deps, admin.origin, { name: 'Acme' })).id });
});

const dependencies = (as: Database) => ({
  ...serviceAccountStores(database, as),
  userPool: { ...acceptingUserPool, createSilentUser: async () => ({ subject: newId('user'), isNew: true }) },
});
const tableOf = (name: string, as = database.database) => createRecordTable(as, String(database.tables[name]));

const createAccount = async (name = 'nightly-report'): Promise<string> =>
  (await createServiceAccount(deps, owner, NewServiceAccount.parse({ name }))).id;
const addSecret = (account: string, { expires_in_seconds } = LIFETIME) => createSecret(deps, owner, account, { expires_in_seconds });

// The time is that many days before the end of a secret.
const look = (daysLeft: number, { expires_at }: { expires_at: number }, as: Partial<Database> = {}, hasTime = () => true) => {
  const over = { ...client, ...as };
  const accounts = tableOf('Accounts', over);
  return notifyExpiringSecrets({
    ...{ database: over, outbox: createOutbox(tableOf('Notifications', over)), now: () => expires_at * SECOND_MS - daysLeft * DAY_MS },
    ...{ secretExpiries: createSecretExpiries(accounts), serviceAccounts: createServiceAccountStore(accounts), hasTime },
  });
};
const notifications = () => Array.fromAsync(tableOf('Notifications').all({ account: String(owner.organization), prefix: OUTBOX_PREFIX }));
const announced = async (account: string) => {
  const rows = await Array.fromAsync(tableOf('Accounts').allOf('secret-expiries'));
  return rows.filter((row) => row.service_account === account);
};

describe('the notification of a secret that expires', () => {
  test('is made 14 days before its end, and once', async () => {
    const account = await createAccount();
    const secret = await addSecret(account);
    await look(NOTICE_DAYS + 0.01, secret);
    expect(await notifications()).toEqual([]);
    for (const daysLeft of [NOTICE_DAYS, 13.9, 1]) await look(daysLeft, secret);
    const { id, hint, expires_at } = secret;
    expect(await notifications()).toEqual([
      expect.objectContaining({
        type: 'sluice.service_account.secret_expiring.v1',
        subject: account,
        at: expires_at * SECOND_MS - NOTICE_DAYS * DAY_MS,
        data: { service_account: account, name: 'nightly-report', secret: id, hint, expires_at },
      }),
    ]);
  });

  test('is made once by two runs at the same time', async () => {
    const secret = await addSecret(await createAccount());
    await Promise.all([look(5, secret), look(5, secret)]);
    expect(await notifications()).toHaveLength(1);
  });

  test.each([2, -30])('is made by a run that is late, %s days before the end', async (daysLeft) => {
    const secret = await addSecret(await createAccount());
    await look(daysLeft, secret);
    expect(await notifications()).toHaveLength(1);
  });

  test('is made by the next run after a crash, and by a run that had no time before', async () => {
    const secret = await addSecret(await createAccount());
    await expect(look(5, secret, { transactWrite: () => Promise.reject(new Crash()) })).rejects.toThrow('1 failed');
    await expect(look(5, secret, {}, () => false)).rejects.toThrow('Ran out of time');
    expect(await notifications()).toEqual([]);
    await look(5, secret);
    expect(await notifications()).toHaveLength(1);
  });

  test('is made of each secret of an account', async () => {
    const account = await createAccount();
    const secrets = [await addSecret(account), await addSecret(account)];
    await look(5, secrets[1] as { expires_at: number });
    const ids = (await notifications()).map(({ data }) => (data as { secret: string }).secret);
    expect(ids.toSorted()).toEqual(secrets.map(({ id }) => id).toSorted());
  });

  test('is not made of a secret that lives for 14 days or less', async () => {
    const account = await createAccount();
    const secret = await addSecret(account, { expires_in_seconds: NOTICE_DAYS * DAY_SECONDS });
    await look(1, secret);
    expect([await notifications(), await announced(account)]).toEqual([[], []]);
  });

  test('is not made of a deleted secret, nor of those of a deleted account', async () => {
    const account = await createAccount();
    const [first, second] = [await addSecret(account), await addSecret(account)];
    await deleteSecret(deps, owner, { id: account, secretId: first.id }, { endsSessions: false });
    expect((await announced(account)).map(({ secret }) => secret)).toEqual([second.id]);
    await deleteServiceAccount(deps, owner, account, { revokes: false });
    await look(5, second);
    expect([await notifications(), await announced(account)]).toEqual([[], []]);
  });

  test('is not made of a secret that is deleted while the run reads it', async () => {
    const account = await createAccount();
    const secret = await addSecret(account);
    const transactWrite: Database['transactWrite'] = async (input) => {
      if ((await deps.serviceAccounts.secretsOf(account)).length > 0)
        await deleteSecret(deps, owner, { id: account, secretId: secret.id }, { endsSessions: false });
      return client.transactWrite(input);
    };
    await look(5, secret, { transactWrite });
    expect(await notifications()).toEqual([]);
  });

  test('waits while the account is disabled, and ends with the secret', async () => {
    const account = await createAccount();
    const secret = await addSecret(account);
    const set = (status: 'active' | 'disabled') => updateServiceAccount(deps, owner, account, { status });
    await set('disabled');
    await look(5, secret);
    expect(await notifications()).toEqual([]);
    await set('active');
    await look(4, secret);
    expect(await notifications()).toHaveLength(1);

    const other = await addSecret(account);
    await set('disabled');
    await look(-1, other);
    expect([await notifications(), await announced(account)]).toEqual([[expect.anything()], []]);
  });

  test('is not made of what is the platform’s', async () => {
    const { id } = await createServiceAccount(deps, admin, NewServiceAccount.parse({ name: 'ci', role: 'support' }));
    const secret = await createSecret(deps, admin, id, LIFETIME);
    expect(await announced(id)).toEqual([]);
    await look(5, secret);
  });

  test('reaches secrets beyond the first page', async () => {
    const accounts = tableOf('Accounts');
    const expires_at = 4_000_000_000;
    for (let i = 0; i < 230; i++) {
      const row = {
        organization: owner.organization,
        service_account: `user_${String(i).padStart(18, '0')}`,
        secret: `sas_${i}`,
        expires_at,
      };
      await accounts.put(
        { account: 'secret-expiries', record: `secret#00${expires_at}#${row.service_account}#${row.secret}` },
        { ...row, version: 1 },
      );
    }
    await look(5, { expires_at });
    // None of their accounts exists.
    expect(await Array.fromAsync(accounts.allOf('secret-expiries'))).toEqual([]);
    expect(await notifications()).toEqual([]);
  });
});
