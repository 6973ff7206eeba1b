import type { LoginDependencies } from '../../../functions/sign-in/log-in.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createLoginAttempts } from '../../../shared/identity/login-attempts.ts';
import { createSessionStore } from '../../../shared/identity/session-store.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { createUserStore, type StoredUser } from '../../../shared/identity/user-store.ts';
import { createQuotaStore } from '../../../shared/quotas/quota-store.ts';
import { createIdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';
import { createSsoLogins } from '../../../shared/single-sign-on/sso-logins.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';

/** When the tests log in. */
export const NOON = Date.UTC(2026, 10, 21, 12);

/** A user, who is not stored. */
export const userOf = (name: string, fields: Partial<StoredUser> = {}): StoredUser => ({
  id: `user_${name.padEnd(18, '0')}`,
  object: 'user',
  email: `${name}@example.com`,
  name: null,
  role: 'member',
  organization: 'org_1',
  status: 'active',
  max_api_keys: 5,
  last_login_at: null,
  created_at: 1,
  updated_at: 1,
  version: 1,
  subject: name,
  tokens_valid_from: 0,
  ...fields,
});

/** The tokens of the user `right`, without a session. */
export const tokens = {
  subject: 'right',
  accessToken: 'access',
  refreshToken: 'refresh',
  expiresInSeconds: 3_600,
  sessionId: undefined,
  authenticatedAt: NOON / 1_000,
};

/** The dependencies of a login, except the clock. */
export const loginDependencies = ({ database, tables }: TestDatabase, userPool: Partial<UserPool>) => {
  const accounts = createRecordTable(database, tables.Accounts as string);
  const attempts = tables.Attempts as string;
  return {
    database,
    audit: createAuditStore(accounts),
    users: createUserStore(accounts),
    sessions: createSessionStore(accounts),
    identityProviders: createIdentityProviderStore(accounts),
    ssoLogins: createSsoLogins(database, attempts),
    attempts: createLoginAttempts(database, attempts),
    quotas: createQuotaStore(database, attempts),
    userPool: userPool as UserPool,
  } satisfies Partial<LoginDependencies>;
};

/** Stores a user. */
export const createStored = async ({ database, tables }: TestDatabase, user: StoredUser): Promise<void> => {
  const users = createUserStore(createRecordTable(database, tables.Accounts as string));
  await users.claimEmail(user.email, user.id, NOON);
  await transact(database, users.toCreate(user, user.id));
};
