import {
  AdminGetUserCommand,
  AdminSetUserPasswordCommand,
  type CognitoIdentityProviderClient,
  UserNotFoundException,
} from '@aws-sdk/client-cognito-identity-provider';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { transact } from '../../shared/database/transaction.ts';
import { createUserPool, createUserPoolClient } from '../../shared/identity/user-pool.ts';
import { createUserStore } from '../../shared/identity/user-store.ts';
import { randomBase62 } from '../../shared/ids/base62.ts';
import { REGION } from '../assembly/resolve.ts';
import { type AccountTables, bootstrap, operatorOrigin } from '../tools/admin/accounts.ts';
import type { Demo } from './demo-file.ts';
import type { LocalRun } from './run.ts';

// The login of a local run's admin.
type DemoAdmin = Pick<Demo, 'admin_email' | 'admin_password'>;

const EMAIL = 'admin@sluice.local';
const USERS = 'Users';
const PASSWORD_CHARACTERS = 16;

/**
 * Creates the admin of a local run with a permanent password.
 * @param previous login from the last run in the same state folder; it is kept while the admin still exists
 */
export const seedAdmin = async (run: LocalRun, tables: AccountTables, previous: DemoAdmin | undefined): Promise<DemoAdmin> => {
  const pool = run.userPools[USERS];
  if (!pool || run.cognitoUrl === null) throw new Error('The assembly has no user pool, so nobody can log in.');
  const clientOptions = { endpoint: run.cognitoUrl, region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const client = createUserPoolClient(clientOptions);
  const issuer = `https://cognito-idp.${REGION}.amazonaws.com/${pool.id}`;
  try {
    const users = createUserStore(createRecordTable(tables.database, tables.accountsTable));
    const id = await users.idOfEmail(EMAIL);
    const known = id === undefined ? undefined : await users.get(id);
    const isConsistent = known !== undefined && known.subject === (await subjectOf(client, pool.id));
    // Admins of earlier releases are not exempt.
    if (isConsistent) await users.exemptFromSecondFactor(known.id);
    if (isConsistent && previous?.admin_password) return { admin_email: EMAIL, admin_password: previous.admin_password };
    if (!isConsistent) {
      // The table and the pool can disagree if they are from different runs, or if a run crashed here.
      if (known) await transact(tables.database, users.toDelete(known, 'npm start', run.clock.now()));
      await users.releaseEmail(EMAIL);
      const userPool = createUserPool(client, { poolId: pool.id, clientIds: { api: pool.clientId } });
      await bootstrap(tables, { userPool, issuer }, operatorOrigin('npm start', run.clock.now()), { email: EMAIL, isExempt: true });
    }
    const password = `${randomBase62(PASSWORD_CHARACTERS)}-aA7`;
    await client.send(new AdminSetUserPasswordCommand({ UserPoolId: pool.id, Username: EMAIL, Password: password, Permanent: true }));
    return { admin_email: EMAIL, admin_password: password };
  } finally {
    client.destroy();
  }
};

// The admin's `sub`; undefined if the pool has no admin.
const subjectOf = async (client: CognitoIdentityProviderClient, poolId: string): Promise<string | undefined> => {
  try {
    const { UserAttributes = [] } = await client.send(new AdminGetUserCommand({ UserPoolId: poolId, Username: EMAIL }));
    return UserAttributes.find(({ Name }) => Name === 'sub')?.Value;
  } catch (error) {
    if (error instanceof UserNotFoundException) return undefined;
    throw error;
  }
};
