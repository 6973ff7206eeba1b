import { mintKey } from '../../../functions/control/federation-rules/mint-key.ts';
import type { MachineSignInDependencies } from '../../../functions/machine-sign-in/grant.ts';
import { issueToken } from '../../../functions/machine-sign-in/issue-token.ts';
import { createUsedTokens } from '../../../functions/machine-sign-in/token-exchange/used-tokens.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createFederation } from '../../../shared/federation/federation.ts';
import { createRuleStore } from '../../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../../shared/federation/sign-in-events.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { createLoginAttempts } from '../../../shared/identity/login-attempts.ts';
import type { SignIn } from '../../../shared/identity/sign-in.ts';
import { createSignInTickets } from '../../../shared/identity/sign-in-tickets.ts';
import { createQuotaStore } from '../../../shared/quotas/quota-store.ts';
import { newServiceAccountSecret } from '../../../shared/service-accounts/secret.ts';
import { createServiceAccountStore, type StoredServiceAccount } from '../../../shared/service-accounts/service-account-store.ts';
import { eventOf } from '../../support/emulators/api-event.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { accountStores } from '../../support/fixtures/account-stores.ts';

export const NOON = Date.UTC(2026, 10, 26, 12);
const SECONDS = NOON / 1_000;

export const accountOf = (name: string, fields: Partial<StoredServiceAccount> = {}): StoredServiceAccount => ({
  id: `user_${name.padEnd(18, '0')}`,
  object: 'user',
  kind: 'service_account',
  email: `sa-${name}@service.invalid`,
  name,
  description: null,
  role: 'member',
  organization: `org_${name}`,
  status: 'active',
  max_api_keys: 5,
  last_login_at: null,
  created_at: 1,
  created_by: 'user_owner0000000000000',
  updated_at: 1,
  version: 1,
  subject: name,
  tokens_valid_from: 0,
  ...fields,
});

/** The function with an identity provider that signs everyone in, unless a test says otherwise. */
export const openMachineSignIn = (testDatabase: TestDatabase, as: Database = testDatabase.database) => {
  const { database, tables } = testDatabase;
  const rows = createRecordTable(database, tables.Accounts as string);
  const stores = (client: Database) => {
    const accounts = createRecordTable(client, tables.Accounts as string);
    return {
      serviceAccounts: createServiceAccountStore(accounts),
      audit: createAuditStore(createRecordTable(client, tables.Audit as string)),
    };
  };
  const accountsTable = tables.Accounts as string;
  const answers = new Map<string, () => Promise<SignIn | undefined>>();
  const signedIn: string[] = [];
  const tokens = { accessToken: 'access', refreshToken: 'refresh', expiresInSeconds: 900, sessionId: undefined, authenticatedAt: SECONDS };
  const deps: MachineSignInDependencies = {
    database: as,
    mintKey: (call) => mintKey({ ...accountStores(testDatabase), rules: createRuleStore(rows), now: Date.now }, call),
    ...stores(as),
    attempts: createLoginAttempts(as, tables.Attempts as string),
    quotas: createQuotaStore(as, tables.Attempts as string),
    exchange: {
      ...createFederation('127.0.0.0/8,::1/128', Date.now),
      usedTokens: createUsedTokens(as, tables.Attempts as string),
      events: createSignInEvents(as, accountsTable, createRecordTable(as, accountsTable)),
      quotas: createQuotaStore(as, tables.Attempts as string),
      findRule: createRuleStore(createRecordTable(as, accountsTable)).findRule,
    },
    tickets: createSignInTickets(as, tables.Attempts as string),
    userPool: {
      signInWithTicket: async ({ subject }) => {
        signedIn.push(subject);
        const answer = answers.get(subject);
        return answer ? answer() : { tokens: { ...tokens, subject } };
      },
    },
  };
  const { serviceAccounts, audit } = stores(database);

  return {
    deps,
    /** The identity provider's answers, by subject. */
    answers,
    /** The subjects for whom the identity provider was called. */
    signedIn,
    serviceAccounts,
    create: async (account: StoredServiceAccount): Promise<void> => transact(database, serviceAccounts.toCreate(account)),
    addSecret: async (
      account: StoredServiceAccount,
      name: string,
      { createdAt = SECONDS, expiresAt = SECONDS + 3_600 }: { createdAt?: number; expiresAt?: number } = {},
    ): Promise<{ id: string; secret: string }> => {
      const id = `sas_${name.padEnd(18, '0')}`;
      const { secret, hash, hint } = newServiceAccountSecret(id);
      const row = { id, hash, hint, created_at: createdAt, created_by: account.created_by, expires_at: expiresAt, version: 1 };
      await transact(database, await serviceAccounts.toAddSecret(account, row));
      return { id, secret };
    },
    entries: async (organization: string | null) =>
      (await audit.list(organization, { limit: 100 })).data.map(({ action, reason, changes, target }) => ({
        action,
        reason,
        changes,
        target,
      })),
    send: (
      parameters: Record<string, string>,
      { ipAddress = '10.0.0.1', atMs = NOON }: { ipAddress?: string; atMs?: number } = {},
    ): ReturnType<typeof issueToken> => {
      const event = {
        ...eventOf('/v1/auth/token', { method: 'POST', headers: { 'content-type': 'application/json' } }),
        body: JSON.stringify(parameters),
        receivedAtMs: atMs,
        requestContext: { identity: { sourceIp: ipAddress } },
      } as unknown as ApiEvent;
      return issueToken(deps, event);
    },
  };
};
