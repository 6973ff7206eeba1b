import type { NewApiKey } from '../../../functions/control/api-keys/api-key.ts';
import { createApiKeyStore } from '../../../functions/control/api-keys/api-key-store.ts';
import { createApiKey } from '../../../functions/control/api-keys/create-api-key.ts';
import { type AppliedLimits, type OrganizationLimits, toAppliedLimits } from '../../../functions/control/limits/limits.ts';
import { createOrganization } from '../../../functions/control/organizations/create-organization.ts';
import { createCreditGrant, type NewCreditGrant } from '../../../functions/control/organizations/credit.ts';
import { createOrganizationStore } from '../../../functions/control/organizations/organization-store.ts';
import { applyDefaultConcurrency, limitOrganization } from '../../../functions/control/organizations/update-organization.ts';
import { createProjectStore } from '../../../functions/control/projects/project-store.ts';
import { createUser } from '../../../functions/control/users/create-user.ts';
import { limitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { mergeShards } from '../../../shared/admission/plans/merge-shards.ts';
import { createLimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import { createAuditStore } from '../../../shared/audit/audit-store.ts';
import type { Origin } from '../../../shared/audit/origin.ts';
import { createCreditStore } from '../../../shared/credit/credit-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { InvalidRequest, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { User } from '../../../shared/identity/user.ts';
import type { UserPool } from '../../../shared/identity/user-pool.ts';
import { createUserStore } from '../../../shared/identity/user-store.ts';
import { randomBase62 } from '../../../shared/ids/base62.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { createIdentityProviderStore } from '../../../shared/single-sign-on/identity-provider-store.ts';

/** The tables that the operator's commands write to. */
export interface AccountTables {
  database: Database;
  accountsTable: string;
  auditTable: string;
  keysTable: string;
  observabilityTable: string;
  /** The concurrency of organizations for which no admin has set another. */
  defaultConcurrency?: number;
}

/** The audit log's origin for someone with the deployment's own credentials. */
export const operatorOrigin = (name: string, nowMs: number): Origin => ({
  actor: { type: 'operator', id: name, email: null, organization: null },
  requestId: null,
  ipAddress: null,
  nowMs,
});

const open = ({ database, accountsTable, auditTable, keysTable, observabilityTable, defaultConcurrency }: AccountTables) => {
  const accounts = createRecordTable(database, accountsTable);
  return {
    database,
    audit: createAuditStore(createRecordTable(database, auditTable)),
    organizations: createOrganizationStore(accounts, defaultConcurrency),
    users: createUserStore(accounts),
    identityProviders: createIdentityProviderStore(accounts),
    apiKeys: createApiKeyStore(accounts),
    projects: createProjectStore(accounts),
    payloadLogs: createPayloadLogStore(createRecordTable(database, observabilityTable)),
    limiters: createLimiterConfigurationStore(database, keysTable),
    credit: createCreditStore(database, accountsTable),
  };
};

type Stores = ReturnType<typeof open>;

const ORGANIZATION_ID = /^org_[\w-]{1,59}$/;

// An older version created limiters without an organization: keep the limits of such a limiter.
const ensureOrganization = async (stores: Stores, origin: Origin, id: string): Promise<void> => {
  try {
    await stores.organizations.get(id);
  } catch (error) {
    if (!(error instanceof ResourceNotFound)) throw error;
    if (!ORGANIZATION_ID.test(id))
      throw new InvalidRequest({ param: '--org', message: `${id} is not an organization id. Organization ids start with org_.` });
    const [own, ...shards] = await readAllShards(stores.limiters, id);
    const limits = own && toAppliedLimits(limitsOf(mergeShards([own, ...shards])));
    await createOrganization(stores, origin, { name: id }, { id, limits });
  }
};

/** Operators have no quota of keys per day. */
export const noDailyQuota = {
  toCount: (): never => {
    throw new Error('An operator has no daily quota.');
  },
};

/** Creates an API key with the control plane's own rule. */
export const createOperatorKey = async (
  tables: AccountTables,
  origin: Origin,
  key: NewApiKey & { organization: string },
): Promise<{ key_id: string; secret: string }> => {
  const stores = open(tables);
  await ensureOrganization(stores, origin, key.organization);
  const actor = { userId: `operator:${origin.actor.id}`, email: '', role: 'admin', organization: null, maxApiKeys: 0, origin } as const;
  const { id, secret } = await createApiKey({ ...stores, quotas: noDailyQuota }, actor, key);
  return { key_id: id, secret };
};

/** Sets an organization's limits with the control plane's own rule. @returns the limits before and after it */
export const limitByOperator = async (
  tables: AccountTables,
  origin: Origin,
  organization: string,
  limits: OrganizationLimits,
): Promise<{ before: AppliedLimits; after: AppliedLimits }> => {
  const stores = open(tables);
  await ensureOrganization(stores, origin, organization);
  const before = await stores.organizations.get(organization);
  const after = await limitOrganization(stores, origin, organization, limits, [before.version]);
  const defaults = stores.organizations.defaultLimits();
  return { before: before.limits ?? defaults, after: after.limits ?? defaults };
};

const MAX_ORGANIZATION_PAGES = 10_000;
const PAGE = 100;

/**
 * Gives the default concurrency to all organizations for which no admin has set another. @returns the ids of those
 * that had another default
 */
export const applyDefaults = async (tables: AccountTables, origin: Origin): Promise<string[]> => {
  const stores = open(tables);
  const changed: string[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_ORGANIZATION_PAGES; page++) {
    const { data, next } = await stores.organizations.list({ limit: PAGE, ...(after !== undefined && { after }) });
    for (const organization of data) if (await applyDefaultConcurrency(stores, origin, organization)) changed.push(organization.id);
    if (next === null) return changed;
    after = next;
  }
  throw new Error(`There are more than ${MAX_ORGANIZATION_PAGES * PAGE} organizations. Run the command again.`);
};

/** Grants credit with the control plane's own rule. */
export const grantByOperator = async (tables: AccountTables, origin: Origin, organization: string, grant: NewCreditGrant) => {
  const stores = open(tables);
  await ensureOrganization(stores, origin, organization);
  return createCreditGrant(stores, origin, organization, grant);
};

const PASSWORD_CHARACTERS = 20;

// The ending has the kinds of characters that a user pool can require.
const temporaryPassword = (): string => `${randomBase62(PASSWORD_CHARACTERS)}-aA7`;

export interface Identity {
  userPool: UserPool;
  /** The issuer of the users' access tokens. */
  issuer: string;
}

/**
 * Creates an admin: the first of a new deployment, or another if nobody can log in any more.
 * @param admin.isExempt whether the admin can do without a second factor
 */
export const bootstrap = async (
  tables: AccountTables,
  identity: Identity,
  origin: Origin,
  { email, isExempt }: { email: string; isExempt: boolean },
): Promise<{ user: User; password: string }> => {
  const password = temporaryPassword();
  const admin = { email, name: null, role: 'admin', organization: null, temporary_password: password } as const;
  const fields = { ...admin, ...(isExempt && { second_factor: 'exempt' as const }) };
  return { user: await createUser({ ...open(tables), ...identity }, origin, fields), password };
};
