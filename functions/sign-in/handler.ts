import { setTimeout as delay } from 'node:timers/promises';
import type { SQSBatchResponse } from 'aws-lambda';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createDelayQueue } from '../../shared/aws/message-queue.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { type Routes, route } from '../../shared/http/router.ts';
import { createLoginAttempts } from '../../shared/identity/login-attempts.ts';
import { createSessionStore } from '../../shared/identity/session-store.ts';
import { createUserPool, createUserPoolClient } from '../../shared/identity/user-pool.ts';
import { createUserStore } from '../../shared/identity/user-store.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { createQuotaStore } from '../../shared/quotas/quota-store.ts';
import { createIdentityProviderStore } from '../../shared/single-sign-on/identity-provider-store.ts';
import { createSsoLogins } from '../../shared/single-sign-on/sso-logins.ts';
import { browserSignInRoutes } from './browser-routes.ts';
import { createResetRequests, mailResetCodes } from './reset-mails.ts';
import { type SignInDependencies, signInRoutes } from './routes.ts';

const database = createSdkDatabase();
const accounts = createRecordTable(database, environmentVariable('ACCOUNTS_TABLE'));

const dependencies: SignInDependencies = {
  database,
  audit: createAuditStore(createRecordTable(database, environmentVariable('AUDIT_TABLE'))),
  users: createUserStore(accounts),
  sessions: createSessionStore(accounts),
  identityProviders: createIdentityProviderStore(accounts),
  ssoLogins: createSsoLogins(database, environmentVariable('ATTEMPTS_TABLE')),
  attempts: createLoginAttempts(database, environmentVariable('ATTEMPTS_TABLE')),
  quotas: createQuotaStore(database, environmentVariable('ATTEMPTS_TABLE')),
  userPool: createUserPool(createUserPoolClient(), {
    poolId: environmentVariable('USER_POOL_ID'),
    clientIds: { api: environmentVariable('USER_POOL_CLIENT_ID'), browser: environmentVariable('BROWSER_CLIENT_ID') },
  }),
  resetRequests: createResetRequests(createDelayQueue(environmentVariable('RESET_MAILS_QUEUE'))),
  now: Date.now,
  wait: delay,
};

const routes: Routes = {};
for (const { method, path, handle } of [...signInRoutes, ...browserSignInRoutes])
  routes[path] = { [method]: (event) => handle(dependencies, event) };

/** Two kinds of events: requests, and batches of the queue of reset codes. */
export const handler = middy<ApiEvent, Reply | SQSBatchResponse>()
  .use(queueMessages(mailResetCodes(dependencies)))
  .use(identified())
  .use(errorReplies())
  .handler(route(routes));
