import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createInvokeFunction } from '../../shared/aws/invoke-function.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createFederation } from '../../shared/federation/federation.ts';
import { createRuleStore } from '../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../shared/federation/sign-in-events.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { type Routes, route } from '../../shared/http/router.ts';
import { createLoginAttempts } from '../../shared/identity/login-attempts.ts';
import { createSignInTickets } from '../../shared/identity/sign-in-tickets.ts';
import { createUserPool, createUserPoolClient } from '../../shared/identity/user-pool.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { createQuotaStore } from '../../shared/quotas/quota-store.ts';
import { createServiceAccountStore } from '../../shared/service-accounts/service-account-store.ts';
import type { MachineSignInDependencies } from './grant.ts';
import { createMintKey } from './mint-key.ts';
import { machineSignInRoutes } from './routes.ts';
import { createUsedTokens } from './token-exchange/used-tokens.ts';

const database = createSdkDatabase();
const attemptsTable = environmentVariable('ATTEMPTS_TABLE');
const accountsTable = environmentVariable('ACCOUNTS_TABLE');
const accounts = createRecordTable(database, accountsTable);
const quotas = createQuotaStore(database, attemptsTable);
const { verifyIdentityToken } = createFederation(process.env.ALLOWED_NETWORKS ?? '', Date.now);

const dependencies: MachineSignInDependencies = {
  database,
  mintKey: createMintKey(createInvokeFunction(), environmentVariable('CONTROL_FUNCTION')),
  audit: createAuditStore(createRecordTable(database, environmentVariable('AUDIT_TABLE'))),
  serviceAccounts: createServiceAccountStore(accounts),
  attempts: createLoginAttempts(database, attemptsTable),
  quotas,
  tickets: createSignInTickets(database, attemptsTable),
  userPool: createUserPool(createUserPoolClient(), {
    poolId: environmentVariable('USER_POOL_ID'),
    clientIds: { api: environmentVariable('USER_POOL_CLIENT_ID'), machine: environmentVariable('MACHINE_CLIENT_ID') },
  }),
  exchange: {
    verifyIdentityToken,
    usedTokens: createUsedTokens(database, attemptsTable),
    events: createSignInEvents(database, accountsTable, accounts),
    quotas,
    findRule: createRuleStore(accounts).findRule,
  },
};

const routes: Routes = {};
for (const { method, path, handle } of machineSignInRoutes) routes[path] = { [method]: (event) => handle(dependencies, event) };

export const handler = middy<ApiEvent, Reply>().use(identified()).use(errorReplies()).handler(route(routes));
