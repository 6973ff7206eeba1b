import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import middy from '@middy/core';
import { createAccountTable } from '../../shared/accounts/account-table.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createDatabase } from '../../shared/database/client.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { identify } from '../../shared/http/api-event.ts';
import { errorReplies } from '../../shared/http/error-replies.ts';
import { createReference } from '../../shared/http/reference.ts';
import { type Routes, route } from '../../shared/http/router.ts';
import { createUserPool, createUserPoolClient } from '../../shared/identity/user-pool.ts';
import { createTokenVerifier, jwksUriOf } from '../../shared/identity/verify-token.ts';
import { createApiKeyStore } from '../../shared/keys/api-key-store.ts';
import { createLimiterDesk } from '../../shared/limiters/limiter-desk.ts';
import { createModelCheck } from '../../shared/models/check-model.ts';
import { createEndpointFacts, createSageMakerClients } from '../../shared/models/endpoint-facts.ts';
import { createModelStore } from '../../shared/models/model-store.ts';
import { createCreditStore } from '../../shared/organizations/credit-store.ts';
import { createOrganizationStore } from '../../shared/organizations/organization-store.ts';
import { createRollupStore } from '../../shared/rollups/rollup-store.ts';
import { createAttemptStore } from '../../shared/sessions/attempt-store.ts';
import { createTokenizer } from '../../shared/tokens/tokenizer.ts';
import { createInvoke } from '../../shared/upstream/invoke.ts';
import { createUserStore } from '../../shared/users/user-store.ts';
import type { ControlDependencies } from './dependencies.ts';
import { controlRoutes } from './routes.ts';
import { serviceRoutes } from './service.ts';

const now = Date.now;
const database = createDatabase();
const accounts = createAccountTable(database, environmentVariable('ACCOUNTS_TABLE'));
const issuer = environmentVariable('TOKEN_ISSUER');
const clientId = environmentVariable('USER_POOL_CLIENT_ID');

const dependencies: ControlDependencies = {
  database,
  audit: createAuditStore(createAccountTable(database, environmentVariable('AUDIT_TABLE'))),
  organizations: createOrganizationStore(accounts),
  users: createUserStore(accounts),
  apiKeys: createApiKeyStore(accounts),
  limiters: createLimiterDesk(database, environmentVariable('KEYS_TABLE')),
  credit: createCreditStore(database, environmentVariable('ACCOUNTS_TABLE')),
  rollups: createRollupStore(database, environmentVariable('USAGE_TABLE')),
  attempts: createAttemptStore(database, environmentVariable('ATTEMPTS_TABLE')),
  models: createModelStore(database, environmentVariable('MODELS_TABLE')),
  checkModel: createModelCheck({
    facts: createEndpointFacts(createSageMakerClients()),
    invoke: createInvoke(),
    tokenizer: createTokenizer(environmentVariable('TOKENIZER_FUNCTION')),
    endpointTag: environmentVariable('ENDPOINT_TAG'),
    now,
  }),
  userPool: createUserPool(createUserPoolClient(), { poolId: environmentVariable('USER_POOL_ID'), clientId }),
  tokens: createTokenVerifier({
    issuer,
    clientId,
    jwksUri: jwksUriOf(issuer, process.env.AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER),
  }),
  issuer,
  now,
  wait: delay,
};

const routes: Routes = serviceRoutes({
  reference: createReference(path.join(import.meta.dirname, 'reference')),
  probe: () => dependencies.organizations.list({ limit: 1 }),
  deployed: { version: process.env.SLUICE_VERSION ?? 'unknown', commit: process.env.SLUICE_COMMIT ?? 'unknown' },
});
for (const { method, path: routePath, handle } of controlRoutes)
  routes[routePath] = { ...routes[routePath], [method]: (event) => handle(dependencies, event) };

export const handler = middy({ timeoutEarlyInMillis: 0 }).use(identify()).use(errorReplies()).handler(route(routes));
