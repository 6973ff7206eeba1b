import { setTimeout as delay } from 'node:timers/promises';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { createFederation } from '../../shared/federation/federation.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { type Routes, route } from '../../shared/http/router.ts';
import { createLoginAttempts } from '../../shared/identity/login-attempts.ts';
import { createSessionStore } from '../../shared/identity/session-store.ts';
import { createSignInTickets } from '../../shared/identity/sign-in-tickets.ts';
import { createUserDirectory } from '../../shared/identity/user-directory.ts';
import { createUserPool, createUserPoolClient, issuerOfPool } from '../../shared/identity/user-pool.ts';
import { createUserStore } from '../../shared/identity/user-store.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { createQuotaStore } from '../../shared/quotas/quota-store.ts';
import { createClientSecrets } from '../../shared/single-sign-on/client-secrets.ts';
import { createIdentityLinks } from '../../shared/single-sign-on/identity-links.ts';
import { createIdentityProviderEvents } from '../../shared/single-sign-on/identity-provider-events.ts';
import { createIdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import { createSsoLogins } from '../../shared/single-sign-on/sso-logins.ts';
import { browserSingleSignOnRoutes } from './browser-routes.ts';
import { createIssuerCalls } from './issuer-calls.ts';
import { orPage } from './page-of-failure.ts';
import { createRecordEvent } from './record-event.ts';
import { createRecordRefusal } from './record-refusal.ts';
import { type SingleSignOnDependencies, singleSignOnPages, singleSignOnRoutes } from './routes.ts';

const database = createSdkDatabase();
const accounts = createRecordTable(database, environmentVariable('ACCOUNTS_TABLE'));
const attemptsTable = environmentVariable('ATTEMPTS_TABLE');
const audit = createAuditStore(createRecordTable(database, environmentVariable('AUDIT_TABLE')));
const quotas = createQuotaStore(database, attemptsTable);
const clientSecrets = createClientSecrets(environmentVariable('SECRETS_PREFIX'));

const attempts = createLoginAttempts(database, attemptsTable);
const providers = createIdentityProviderStore(accounts);

const dependencies: SingleSignOnDependencies = {
  database,
  accounts,
  audit,
  users: createUserStore(accounts),
  directory: createUserDirectory(accounts),
  links: createIdentityLinks(accounts),
  sessions: createSessionStore(accounts),
  providers,
  attempts,
  quotas,
  logins: createSsoLogins(database, attemptsTable),
  tickets: createSignInTickets(database, attemptsTable),
  ...createIssuerCalls(createFederation(process.env.ALLOWED_NETWORKS ?? '', Date.now), {
    database,
    table: attemptsTable,
    quotas,
    attempts,
    now: Date.now,
  }),
  clientSecretOf: clientSecrets.read,
  recordRefusal: createRecordRefusal({ database, audit, quotas }),
  recordEvent: createRecordEvent({
    events: createIdentityProviderEvents(database, environmentVariable('ACCOUNTS_TABLE'), accounts),
    providers,
    quotas,
  }),
  userPool: createUserPool(createUserPoolClient(), {
    poolId: environmentVariable('USER_POOL_ID'),
    clientIds: { api: environmentVariable('USER_POOL_CLIENT_ID'), browser: environmentVariable('BROWSER_CLIENT_ID') },
  }),
  issuer: issuerOfPool(environmentVariable('USER_POOL_ID')),
  controlUrl: environmentVariable('CONTROL_URL'),
  now: Date.now,
  wait: delay,
};

const routes: Routes = {};
for (const { method, path, handle } of [...singleSignOnRoutes, ...browserSingleSignOnRoutes])
  routes[path] = { [method]: (event) => handle(dependencies, event) };
for (const [path, load] of Object.entries(singleSignOnPages)) routes[path] = { GET: orPage((event) => load(dependencies, event)) };

export const handler = middy<ApiEvent, Reply>().use(identified()).use(errorReplies()).handler(route(routes));
