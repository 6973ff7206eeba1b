import { AdminSetUserPasswordCommand } from '@aws-sdk/client-cognito-identity-provider';
import { createAccountTable } from '../../shared/accounts/account-table.ts';
import { createUserPool, createUserPoolClient } from '../../shared/identity/user-pool.ts';
import { randomBase62 } from '../../shared/ids/base62.ts';
import { createUserStore } from '../../shared/users/user-store.ts';
import { type AccountTables, bootstrap, operatorOrigin } from '../admin/accounts.ts';
import { REGION } from './assembly/resolve.ts';
import type { LocalRun } from './run.ts';

/** Who may do everything in a local run. */
export interface DemoAdmin {
  readonly admin_email: string;
  readonly admin_password: string;
}

const EMAIL = 'admin@sluice.local';
const USERS = 'Users';
const PASSWORD_CHARACTERS = 16;

/**
 * Makes the admin of a local run, with a password that need not be changed.
 * @param previous the admin of the last run in the same state folder, who is kept
 */
export const seedAdmin = async (run: LocalRun, tables: AccountTables, previous: DemoAdmin | undefined): Promise<DemoAdmin> => {
  const pool = run.userPools[USERS];
  if (!pool || run.cognitoUrl === null) throw new Error('The assembly has no user pool, and so nobody can log in.');
  const place = { endpoint: run.cognitoUrl, region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const client = createUserPoolClient(place);
  const issuer = `https://cognito-idp.${REGION}.amazonaws.com/${pool.id}`;
  try {
    const users = createUserStore(createAccountTable(tables.database, tables.accountsTable));
    const isThere = (await users.idOfEmail(EMAIL)) !== undefined;
    if (isThere && previous?.admin_password) return { admin_email: EMAIL, admin_password: previous.admin_password };
    const userPool = createUserPool(client, { poolId: pool.id, clientId: pool.clientId });
    if (!isThere) await bootstrap(tables, { userPool, issuer }, operatorOrigin('npm start', Date.now()), EMAIL);
    const password = `${randomBase62(PASSWORD_CHARACTERS)}-aA7`;
    await client.send(new AdminSetUserPasswordCommand({ UserPoolId: pool.id, Username: EMAIL, Password: password, Permanent: true }));
    return { admin_email: EMAIL, admin_password: password };
  } finally {
    client.destroy();
  }
};
