import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { answerTrigger, type TriggerEvent } from '../../../../functions/auth-challenge/answer-trigger.ts';
import type { Actor } from '../../../../functions/control/access/actor.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { createServiceAccount, listServiceAccounts } from '../../../../functions/control/service-accounts/manage-service-accounts.ts';
import { createSecret } from '../../../../functions/control/service-accounts/secrets.ts';
import { NewSecret, NewServiceAccount } from '../../../../functions/control/service-accounts/service-account.ts';
import { authenticate } from '../../../../functions/control/sessions/authenticate.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createSignInTickets } from '../../../../shared/identity/sign-in-tickets.ts';
import { userIdOf } from '../../../../shared/identity/user.ts';
import type { UserPool } from '../../../../shared/identity/user-pool.ts';
import { newTimedId } from '../../../../shared/ids/id.ts';
import { newServiceAccountSecret } from '../../../../shared/service-accounts/secret.ts';
import { openPool, TEMPORARY } from '../../../shared/identity/user-fixtures.ts';
import { eventOf } from '../../../support/emulators/api-event.ts';
import { startTestCognito, type TestCognito } from '../../../support/emulators/cognito.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { ISSUER, storeUser } from '../../../support/fixtures/stored-users.ts';
import { openMachineSignIn } from '../../machine-sign-in/machine-sign-in-fixtures.ts';
import { serviceAccountStores } from './service-account-stores.ts';

let database: TestDatabase;
let cognito: TestCognito;
let pool: UserPool;

beforeAll(async () => {
  database = await startTestDatabase();
  const tickets = createSignInTickets(database.database, String(database.tables.Attempts));
  cognito = await startTestCognito({ invoke: (_arn, event) => answerTrigger({ tickets, now: Date.now }, event as TriggerEvent) });
  pool = openPool(cognito.url);
});
afterAll(() => Promise.all([database.close(), cognito.close()]));

const dependencies = (client: Database, userPool: Pick<UserPool, 'createSilentUser'>) => ({
  ...serviceAccountStores(database, client),
  userPool: { ...pool, ...userPool },
});

const storeOwner = async (): Promise<Actor> => {
  const deps = dependencies(database.database, pool);
  const admin = await storeUser(deps, { role: 'admin', organization: null });
  return storeUser(deps, { role: 'owner', organization: (await createOrganization(deps, admin.origin, { name: 'Acme' })).id });
};

const crashing: Database['transactWrite'] = async () => {
  throw new Crash();
};

const send = (client_id: string, client_secret: string) => {
  const { deps, send: sendTo } = openMachineSignIn(database);
  deps.userPool = pool;
  return sendTo({ grant_type: 'client_credentials', client_id, client_secret }, { atMs: Date.now() });
};

describe('the creation of a service account that dies', () => {
  test.each<[string, Database['transactWrite'] | undefined, (email: string) => Promise<{ subject: string; isNew: boolean }>]>([
    ['before the password of its user is set', undefined, (email) => pool.createUser({ email, temporaryPassword: TEMPORARY })],
    ['before the service account is stored', crashing, (email) => pool.createSilentUser(email)],
  ])('%s leaves a user who can do nothing, and its repetition creates a usable account', async (_, transactWrite, createSilentUser) => {
    const owner = await storeOwner();
    const left: string[] = [];
    const deps = dependencies(
      { ...database.database, ...(transactWrite && { transactWrite }) },
      {
        createSilentUser: async (email) => {
          const created = await createSilentUser(email);
          left.push(created.subject);
          if (!transactWrite) throw new Crash();
          return created;
        },
      },
    );
    const body = NewServiceAccount.parse({ name: 'ci' });
    await expect(createServiceAccount(deps, owner, body)).rejects.toThrow(Crash);

    const [subject = ''] = left;
    const id = userIdOf(ISSUER, subject);
    const alive = dependencies(database.database, pool);
    expect((await listServiceAccounts(alive, owner, { limit: 100 })).data).toEqual([]);
    await expect(createSecret(alive, owner, id, NewSecret.parse({}))).rejects.toMatchObject({ status: 404 });
    const { secret: madeUp } = newServiceAccountSecret(newTimedId('serviceAccountSecret', Date.now()));
    await expect(send(id, madeUp)).rejects.toMatchObject({ status: 401, code: 'invalid_client' });
    const issuedAtMs = Date.now();
    const token = { issuer: ISSUER, subject, issuedAtMs, authenticatedAtMs: issuedAtMs, sessionId: undefined, client: 'machine' as const };
    const event = eventOf('/v1/me', { headers: { authorization: 'Bearer token' } });
    await expect(authenticate({ ...alive, tokens: { verify: async () => token } }, event)).rejects.toMatchObject({ status: 401 });

    const account = await createServiceAccount(alive, owner, body);
    expect(account.id).not.toBe(id);
    const { secret } = await createSecret(alive, owner, account.id, NewSecret.parse({}));
    expect(await send(account.id, secret)).toMatchObject({ token_type: 'Bearer' });
    expect((await listServiceAccounts(alive, owner, { limit: 100 })).data.map((each) => each.id)).toEqual([account.id]);
  });
});
