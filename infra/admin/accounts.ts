import type { Origin } from '../../functions/control/access/origin.ts';
import { createApiKeyStore } from '../../functions/control/api-keys/api-key-store.ts';
import { createApiKey } from '../../functions/control/api-keys/create-api-key.ts';
import { createAuditStore } from '../../functions/control/audit/audit-store.ts';
import type { UserPool } from '../../functions/control/identity/user-pool.ts';
import { createLimiterDesk } from '../../functions/control/limiters/limiter-desk.ts';
import { createOrganization } from '../../functions/control/organizations/create-organization.ts';
import { makeGrant } from '../../functions/control/organizations/credit.ts';
import { createCreditStore, type Grant } from '../../functions/control/organizations/credit-store.ts';
import { LimitFields } from '../../functions/control/organizations/organization-account.ts';
import { createOrganizationStore } from '../../functions/control/organizations/organization-store.ts';
import { limitOrganization } from '../../functions/control/organizations/update-organization.ts';
import { createUser } from '../../functions/control/users/create-user.ts';
import type { User } from '../../functions/control/users/user.ts';
import { createUserStore } from '../../functions/control/users/user-store.ts';
import type { NewKey } from '../../shared/admission/key.ts';
import type { LimiterItem } from '../../shared/admission/limiter.ts';
import type { OrganizationLimits } from '../../shared/admission/organization.ts';
import type { Database } from '../../shared/database/client.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { InvalidRequest, ResourceNotFound } from '../../shared/http/errors.ts';
import { randomBase62 } from '../../shared/ids/base62.ts';
import { dollarsOf } from '../../shared/prices/dollars.ts';

/** What an operator's commands write to. */
export interface AccountTables {
  database: Database;
  accountsTable: string;
  auditTable: string;
  keysTable: string;
}

/** Someone with the deployment's own credentials: what they do is in the audit log too. */
export const operatorOrigin = (name: string, nowMs: number): Origin => ({
  actor: { type: 'operator', id: name, email: null, organization: null },
  requestId: null,
  ipAddress: null,
  nowMs,
});

const open = ({ database, accountsTable, auditTable, keysTable }: AccountTables) => {
  const accounts = createAccountTable(database, accountsTable);
  return {
    database,
    audit: createAuditStore(createAccountTable(database, auditTable)),
    organizations: createOrganizationStore(accounts),
    users: createUserStore(accounts),
    apiKeys: createApiKeyStore(accounts),
    limiters: createLimiterDesk(database, keysTable),
    credit: createCreditStore(database, accountsTable),
  };
};

type Stores = ReturnType<typeof open>;

const ORGANIZATION_ID = /^org_[\w-]{1,59}$/;

/** The limits that a limiter has from before there were organizations. */
const limitFieldsOf = ({ lim_r, lim_t, lim_c, bud_m, prepaid }: LimiterItem): LimitFields => ({
  requests_per_minute: lim_r ?? null,
  tokens_per_minute: lim_t ?? null,
  concurrency: lim_c ?? LimitFields.parse({}).concurrency,
  month_budget: bud_m === undefined ? null : dollarsOf(BigInt(bud_m)),
  prepaid: prepaid === true,
});

/** An organization that is named for the first time is made, under the name that its id is. */
const ensureOrganization = async (stores: Stores, origin: Origin, id: string): Promise<void> => {
  try {
    await stores.organizations.get(id);
  } catch (error) {
    if (!(error instanceof ResourceNotFound)) throw error;
    if (!ORGANIZATION_ID.test(id))
      throw new InvalidRequest({ param: '--org', message: `${id} is no id of an organization: it begins with org_.` });
    const item = await stores.limiters.get(id);
    await createOrganization(stores, origin, { name: id }, { id, limits: item ? limitFieldsOf(item) : null });
  }
};

/** Creates an API key by the control plane's own rule. */
export const createOperatorKey = async (
  tables: AccountTables,
  origin: Origin,
  key: NewKey,
): Promise<{ key_id: string; secret: string }> => {
  const stores = open(tables);
  await ensureOrganization(stores, origin, key.org);
  const { id: name } = origin.actor;
  const actor = { userId: `operator:${name}`, email: '', role: 'admin', organization: null, origin } as const;
  const dollars = (nanos: bigint | undefined): string | null => (nanos === undefined ? null : dollarsOf(nanos));
  const { id, secret } = await createApiKey(stores, actor, {
    name: 'operator',
    organization: key.org,
    scope: key.scope,
    models: key.models ?? null,
    limits: {
      requests_per_minute: key.requests_per_minute,
      tokens_per_minute: key.tokens_per_minute,
      concurrency: key.concurrency,
    },
    budgets: { day: dollars(key.day_budget_nanos), month: dollars(key.month_budget_nanos), total: dollars(key.total_budget_nanos) },
    expires_at: key.expires_at === undefined ? null : Math.floor(key.expires_at / 1_000),
    no_content: key.no_content ?? false,
    metadata: {},
  });
  return { key_id: id, secret };
};

/** Sets an organization's limits by the control plane's own rule. */
export const limitByOperator = async (
  tables: AccountTables,
  origin: Origin,
  organization: string,
  limits: OrganizationLimits,
): Promise<void> => {
  const stores = open(tables);
  await ensureOrganization(stores, origin, organization);
  const { requests_per_minute = null, tokens_per_minute = null, concurrency, month_budget_nanos, prepaid } = limits;
  const month_budget = month_budget_nanos === undefined ? null : dollarsOf(month_budget_nanos);
  await limitOrganization(stores, origin, organization, { requests_per_minute, tokens_per_minute, concurrency, month_budget, prepaid });
};

/** Grants credit by the control plane's own rule. */
export const grantByOperator = async (
  tables: AccountTables,
  origin: Origin,
  { organization, amount_nanos, reason }: Pick<Grant, 'organization' | 'amount_nanos' | 'reason'>,
) => {
  const stores = open(tables);
  await ensureOrganization(stores, origin, organization);
  return makeGrant(stores, origin, organization, { amount: dollarsOf(amount_nanos), reason });
};

const PASSWORD_CHARACTERS = 20;

/** A temporary password of all kinds of characters that a pool may ask for. */
const temporaryPassword = (): string => `${randomBase62(PASSWORD_CHARACTERS)}-aA7`;

/** Where people log in. */
export interface Identity {
  userPool: UserPool;
  /** Of the tokens that they come with. */
  issuer: string;
}

/** Makes an admin: the first of a fresh deployment, or another where nobody can log in any more. */
export const bootstrap = async (
  tables: AccountTables,
  identity: Identity,
  origin: Origin,
  email: string,
): Promise<{ user: User; password: string }> => {
  const password = temporaryPassword();
  const fields = { email, name: null, role: 'admin', organization: null, temporary_password: password } as const;
  return { user: await createUser({ ...open(tables), ...identity }, origin, fields), password };
};
