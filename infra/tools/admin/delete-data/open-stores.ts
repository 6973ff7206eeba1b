import { createApiKeyStore } from '../../../../functions/control/api-keys/api-key-store.ts';
import { createOrganizationStore } from '../../../../functions/control/organizations/organization-store.ts';
import { createProjectStore } from '../../../../functions/control/projects/project-store.ts';
import { createLimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import { createAuditStore } from '../../../../shared/audit/audit-store.ts';
import { createBillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { createDeploymentStore } from '../../../../shared/deployments/deployment-store.ts';
import { createSessionStore } from '../../../../shared/identity/session-store.ts';
import type { UserPool } from '../../../../shared/identity/user-pool.ts';
import { createUserStore } from '../../../../shared/identity/user-store.ts';
import { createAliasStore } from '../../../../shared/models/alias-store.ts';
import { createPayloadLogStore } from '../../../../shared/payload-log/settings-store.ts';
import { createServiceAccountStore } from '../../../../shared/service-accounts/service-account-store.ts';
import { createIdentityProviderStore } from '../../../../shared/single-sign-on/identity-provider-store.ts';
import { createTicketStore } from '../../../../shared/tickets/ticket-store.ts';
import { createOrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import type { DeleteDataDependencies } from './deletion.ts';

type TableName =
  | 'accounts'
  | 'audit'
  | 'billing'
  | 'deployments'
  | 'keys'
  | 'models'
  | 'notifications'
  | 'observability'
  | 'responses'
  | 'tickets'
  | 'usage';

/** The names of what has data of organizations. */
export interface DataNames {
  tables: Readonly<Record<TableName, string>>;
  buckets: DeleteDataDependencies['buckets'];
}

/** The stores that a deletion needs. */
export const openDataStores = (
  database: SdkDatabase,
  { tables, buckets }: DataNames,
  { userPool, clientSecrets, s3 }: Pick<DeleteDataDependencies, 'clientSecrets' | 's3'> & { userPool: UserPool },
): DeleteDataDependencies => {
  const rows = (name: TableName) => createRecordTable(database, tables[name]);
  return {
    database,
    tables,
    usageTable: tables.usage,
    buckets,
    userPool,
    clientSecrets,
    s3,
    serviceAccounts: createServiceAccountStore(rows('accounts')),
    identityProviders: createIdentityProviderStore(rows('accounts')),
    audit: createAuditStore(rows('audit')),
    organizations: createOrganizationStore(rows('accounts')),
    users: createUserStore(rows('accounts')),
    sessions: createSessionStore(rows('accounts')),
    apiKeys: createApiKeyStore(rows('accounts')),
    projects: createProjectStore(rows('accounts')),
    limiters: createLimiterConfigurationStore(database, tables.keys),
    payloadLogs: createPayloadLogStore(rows('observability')),
    settings: createBillingSettingsStore(rows('billing')),
    deployments: createDeploymentStore(rows('deployments')),
    aliases: createAliasStore(database, tables.models),
    tickets: createTicketStore(database, tables.tickets, rows('tickets')),
    usage: createUsageStore(database, tables.usage),
    rollups: createRollupStore(database, tables.usage),
    totals: createOrganizationTotalsStore(database, tables.usage),
    now: Date.now,
  };
};
