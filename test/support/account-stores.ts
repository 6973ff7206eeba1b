import { createCallCounter } from '../../functions/control/access/count-call.ts';
import { createApiKeyStore } from '../../functions/control/api-keys/api-key-store.ts';
import { createOrganizationStore } from '../../functions/control/organizations/organization-store.ts';
import { createLimiterConfigurationStore } from '../../shared/admission/limiter-configuration-store.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createBillingSettingsStore } from '../../shared/billing/billing-settings-store.ts';
import type { Database } from '../../shared/database/database.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { createAttemptStore } from '../../shared/identity/attempt-store.ts';
import { createUserStore } from '../../shared/identity/user-store.ts';
import { createPayloadLogStore } from '../../shared/payload-log/settings-store.ts';
import type { TestDatabase } from './database.ts';

/** The control plane's stores of organizations, users and API keys, over the emulator or another database. */
export const accountStores = ({ tables, database: emulator }: TestDatabase, database: Database = emulator) => {
  const accounts = createAccountTable(database, tables.Accounts as string);
  const attempts = createAttemptStore(database, tables.Attempts as string);
  return {
    database,
    audit: createAuditStore(createAccountTable(database, tables.Audit as string)),
    organizations: createOrganizationStore(accounts),
    users: createUserStore(accounts),
    apiKeys: createApiKeyStore(accounts),
    attempts,
    calls: createCallCounter(attempts),
    settings: createBillingSettingsStore(createAccountTable(database, tables.Billing as string)),
    payloadLogs: createPayloadLogStore(createAccountTable(database, tables.Observability as string)),
    limiters: createLimiterConfigurationStore(database, tables.Keys as string),
  };
};
