import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLimiterConfigurationStore } from '../../shared/admission/stores/limiter-configuration-store.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createInvokeFunction, createInvokeLater } from '../../shared/aws/invoke-function.ts';
import { createCreditStore } from '../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { createBenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore, pageOfLiveDeployments } from '../../shared/deployments/deployment-store.ts';
import { createShadowStore } from '../../shared/deployments/shadow-store.ts';
import { createStartTimesStore } from '../../shared/deployments/start-times-store.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createFederation } from '../../shared/federation/federation.ts';
import type { MintKeyResult } from '../../shared/federation/mint-key.ts';
import { createRuleStore } from '../../shared/federation/rule-store.ts';
import { createSignInEvents } from '../../shared/federation/sign-in-events.ts';
import { createHoldStartCredit } from '../../shared/gpu-time/start-credit.ts';
import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import { redirectBrowsers } from '../../shared/hosts/redirect-browsers.ts';
import { API_VERSIONS, serviceRoutes } from '../../shared/hosts/service-routes.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { type Routes, route } from '../../shared/http/router.ts';
import { AUTH_PATHS, SIGN_IN_PATHS, SSO_PATHS } from '../../shared/identity/auth-paths.ts';
import { createLoginAttempts } from '../../shared/identity/login-attempts.ts';
import { createSessionStore } from '../../shared/identity/session-store.ts';
import { createUserPool, createUserPoolClient, issuerOfPool } from '../../shared/identity/user-pool.ts';
import { createUserStore } from '../../shared/identity/user-store.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { createAliasStore } from '../../shared/models/alias-store.ts';
import { createModelStore } from '../../shared/models/model-store.ts';
import { createNetworks } from '../../shared/network/networks.ts';
import { createDeliveryStore } from '../../shared/notifications/delivery-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createWebhookStore } from '../../shared/notifications/webhook-store.ts';
import { createRefusalStore } from '../../shared/observability/refusal-store.ts';
import { createRequestRowStore } from '../../shared/observability/request-row-store.ts';
import { createPayloadLogStore } from '../../shared/payload-log/settings-store.ts';
import { createQuotaStore } from '../../shared/quotas/quota-store.ts';
import { createServiceAccountStore } from '../../shared/service-accounts/service-account-store.ts';
import { createClientSecrets } from '../../shared/single-sign-on/client-secrets.ts';
import { createIdentityLinks } from '../../shared/single-sign-on/identity-links.ts';
import { createIdentityProviderEvents } from '../../shared/single-sign-on/identity-provider-events.ts';
import { createIdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import { createSsoLogins } from '../../shared/single-sign-on/sso-logins.ts';
import { createReference } from '../../shared/static-files/reference.ts';
import { createClocks, SupportPromise } from '../../shared/tickets/clocks.ts';
import { createTicketStore } from '../../shared/tickets/ticket-store.ts';
import { createTokenizer } from '../../shared/tokens/tokenizer.ts';
import { createSdkInvoke, createSdkWholeInvoke } from '../../shared/upstream/sdk-invoke.ts';
import { createDeploymentDayStore } from '../../shared/usage/deployment-day-store.ts';
import { createGpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import { createOrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { createCallCounter } from './access/count-call.ts';
import { createApiKeyStore } from './api-keys/api-key-store.ts';
import { createBillingDependencies } from './billing/dependencies.ts';
import type { ControlDependencies } from './dependencies.ts';
import { createDeploymentsFunction } from './deployments/deployments-function.ts';
import { mintKeyCalls } from './federation-rules/mint-key.ts';
import { health } from './health.ts';
import { createTokenVerifier, jwksUriOf } from './identity/verify-token.ts';
import { createResolveTxt } from './identity-providers/resolve-txt.ts';
import { BUILT_IN_INSTANCE_TYPES } from './instance-types/built-in-instance-types.ts';
import { checkTargets } from './model-registry/check-targets.ts';
import { createSageMakerClients, createTargetFacts } from './model-registry/target-facts.ts';
import { createReadPayload } from './observability/payload-log/read-payload.ts';
import { createOrganizationStore } from './organizations/organization-store.ts';
import { createProjectStore } from './projects/project-store.ts';
import { controlRoutes } from './routes.ts';
import { BUILT_IN_RUNTIMES } from './runtimes/built-in-runtimes.ts';
import { scimRoutes } from './scim/scim-routes.ts';
import { createScimStore } from './scim/scim-store.ts';
import { createScimTokenStore } from './scim/token-store.ts';
import { authenticate } from './sessions/authenticate.ts';
import { createAttachmentStore } from './tickets/attachments/attachment-store.ts';
import { createTicketFiles } from './tickets/attachments/lazy-ticket-files.ts';

const now = Date.now;
const database = createSdkDatabase();
const accounts = createRecordTable(database, environmentVariable('ACCOUNTS_TABLE'));
const issuer = issuerOfPool(environmentVariable('USER_POOL_ID'));
const clientIds = {
  api: environmentVariable('USER_POOL_CLIENT_ID'),
  machine: environmentVariable('MACHINE_CLIENT_ID'),
  browser: environmentVariable('BROWSER_CLIENT_ID'),
};

const users = createUserStore(accounts);
const tokens = createTokenVerifier({
  issuer,
  clientIds,
  jwksUri: jwksUriOf(issuer, process.env.AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER),
});

const tokenizer = createTokenizer(createInvokeFunction(), environmentVariable('TOKENIZER_FUNCTION'));

const targetChecks = {
  facts: createTargetFacts(createSageMakerClients()),
  invoke: createSdkInvoke(),
  invokeWhole: createSdkWholeInvoke(),
  tokenizer,
  endpointTag: environmentVariable('ENDPOINT_TAG'),
  now,
};

const organizations = createOrganizationStore(accounts, Number(environmentVariable('ORGANIZATION_CONCURRENCY')));

const deploymentsTable = environmentVariable('DEPLOYMENTS_TABLE');
const deploymentRows = createRecordTable(database, deploymentsTable);
const catalogue = createCatalogueStore(deploymentRows, { runtimes: BUILT_IN_RUNTIMES, instanceTypes: BUILT_IN_INSTANCE_TYPES });
const ticketsTable = environmentVariable('TICKETS_TABLE');
const ticketRows = createRecordTable(database, ticketsTable);
const notifications = createRecordTable(database, environmentVariable('NOTIFICATIONS_TABLE'));

const billing = createBillingDependencies({
  table: createRecordTable(database, environmentVariable('BILLING_TABLE')),
  bucket: environmentVariable('BILLING_BUCKET'),
  queueUrl: environmentVariable('BILLING_QUEUE'),
});

const modelsTable = environmentVariable('MODELS_TABLE');

const quotas = createQuotaStore(database, environmentVariable('ATTEMPTS_TABLE'));

const dependencies: ControlDependencies = {
  database,
  audit: createAuditStore(createRecordTable(database, environmentVariable('AUDIT_TABLE'))),
  organizations,
  users,
  sessions: createSessionStore(accounts),
  serviceAccounts: createServiceAccountStore(accounts),
  rules: createRuleStore(accounts),
  signInEvents: createSignInEvents(database, environmentVariable('ACCOUNTS_TABLE'), accounts),
  apiKeys: createApiKeyStore(accounts),
  projects: createProjectStore(accounts),
  limiters: createLimiterConfigurationStore(database, environmentVariable('KEYS_TABLE')),
  credit: createCreditStore(database, environmentVariable('ACCOUNTS_TABLE')),
  rollups: createRollupStore(database, environmentVariable('USAGE_TABLE')),
  usage: createUsageStore(database, environmentVariable('USAGE_TABLE')),
  gpuEvents: createGpuEventStore(database, environmentVariable('USAGE_TABLE')),
  deploymentDays: createDeploymentDayStore(database, environmentVariable('USAGE_TABLE')),
  requestRows: createRequestRowStore(database, environmentVariable('OBSERVABILITY_TABLE')),
  refusals: createRefusalStore(database, environmentVariable('OBSERVABILITY_TABLE')),
  organizationTotals: createOrganizationTotalsStore(database, environmentVariable('USAGE_TABLE')),
  ...billing,
  scim: createScimStore(accounts),
  scimTokens: createScimTokenStore(accounts),
  attempts: createLoginAttempts(database, environmentVariable('ATTEMPTS_TABLE')),
  quotas,
  calls: createCallCounter(quotas),
  models: createModelStore(database, modelsTable),
  aliases: createAliasStore(database, modelsTable),
  checkModel: (model) => checkTargets(targetChecks, model),
  tokenizer,
  deployments: createDeploymentStore(deploymentRows),
  benchmarks: createBenchmarkStore(deploymentRows),
  shadows: createShadowStore(database, deploymentsTable),
  liveDeployments: (request) => pageOfLiveDeployments(database, deploymentsTable, request),
  catalogue,
  holdStartCredit: createHoldStartCredit(database, environmentVariable('KEYS_TABLE'), catalogue),
  startTimes: createStartTimesStore(database, deploymentRows),
  modelSources: { weightsBucket: environmentVariable('WEIGHTS_BUCKET'), hubModels: environmentVariable('HUB_MODELS') === 'true' },
  region: environmentVariable('AWS_REGION'),
  ...createDeploymentsFunction(createInvokeFunction(), createInvokeLater(), environmentVariable('DEPLOYMENTS_FUNCTION')),
  nameOf: async (id) => (await organizations.get(id)).name,
  webhooks: createWebhookStore(notifications),
  deliveries: createDeliveryStore(notifications),
  outbox: createOutbox(notifications),
  tickets: createTicketStore(database, ticketsTable, ticketRows),
  attachments: createAttachmentStore(ticketRows),
  ticketFiles: createTicketFiles(environmentVariable('TICKET_FILES_BUCKET')),
  clocks: createClocks(SupportPromise.parse(JSON.parse(environmentVariable('SUPPORT_PROMISE')))),
  payloadLogs: createPayloadLogStore(createRecordTable(database, environmentVariable('OBSERVABILITY_TABLE'))),
  readPayload: createReadPayload(environmentVariable('PAYLOADS_BUCKET')),
  networks: createNetworks(process.env.ALLOWED_NETWORKS ?? ''),
  identityProviders: createIdentityProviderStore(accounts),
  identityProviderEvents: createIdentityProviderEvents(database, environmentVariable('ACCOUNTS_TABLE'), accounts),
  identityLinks: createIdentityLinks(accounts),
  ssoLogins: createSsoLogins(database, environmentVariable('ATTEMPTS_TABLE')),
  clientSecrets: createClientSecrets(environmentVariable('SECRETS_PREFIX')),
  discover: createFederation(process.env.ALLOWED_NETWORKS ?? '', now).discover,
  resolveTxt: createResolveTxt(process.env.DNS_SERVERS?.split(',')),
  controlUrl: environmentVariable('CONTROL_URL'),
  userPool: createUserPool(createUserPoolClient(), { poolId: environmentVariable('USER_POOL_ID'), clientIds }),
  authenticate: (event) => authenticate({ tokens, users, now }, event),
  issuer,
  now,
  wait: delay,
};

const routes: Routes = serviceRoutes({
  health: health(() => dependencies.organizations.list({ limit: 1 })),
  reference: createReference(path.join(import.meta.dirname, 'reference')),
  apiVersion: API_VERSIONS.control,
});
for (const signInPath of [...SIGN_IN_PATHS, AUTH_PATHS.token, SSO_PATHS.begin, SSO_PATHS.session, SSO_PATHS.browserSession])
  routes[signInPath] = { POST: 'elsewhere' };
for (const page of [SSO_PATHS.authorize, SSO_PATHS.callback, ...Object.values(CONSOLE_PATHS)]) routes[page] = { GET: 'elsewhere' };
for (const { method, path: routePath, handle } of controlRoutes)
  routes[routePath] = { ...routes[routePath], [method]: (event) => handle(dependencies, event) };
for (const { method, path: routePath, handle } of scimRoutes)
  routes[routePath] = { ...routes[routePath], [method]: (event) => handle(dependencies, event) };

/** Two kinds of events: requests, and invocations by `machine-sign-in`, which have it create API keys. */
export const handler = middy<ApiEvent, Reply | MintKeyResult>()
  .use(mintKeyCalls(dependencies))
  .use(identified())
  .use(errorReplies())
  .handler(redirectBrowsers(route(routes)));
