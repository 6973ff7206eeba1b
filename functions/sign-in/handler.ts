import { setTimeout as delay } from 'node:timers/promises';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { type Routes, route } from '../../shared/http/router.ts';
import { createAttemptStore } from '../../shared/identity/attempt-store.ts';
import type { SessionDependencies } from '../../shared/identity/sessions.ts';
import { createUserPool, createUserPoolClient } from '../../shared/identity/user-pool.ts';
import { createUserStore } from '../../shared/identity/user-store.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { signInRoutes } from './routes.ts';

const database = createSdkDatabase();

const dependencies: SessionDependencies = {
  database,
  audit: createAuditStore(createAccountTable(database, environmentVariable('AUDIT_TABLE'))),
  users: createUserStore(createAccountTable(database, environmentVariable('ACCOUNTS_TABLE'))),
  attempts: createAttemptStore(database, environmentVariable('ATTEMPTS_TABLE')),
  userPool: createUserPool(createUserPoolClient(), {
    poolId: environmentVariable('USER_POOL_ID'),
    clientId: environmentVariable('USER_POOL_CLIENT_ID'),
  }),
  now: Date.now,
  wait: delay,
};

const routes: Routes = {};
for (const { method, path, handle } of signInRoutes) routes[path] = { [method]: (event) => handle(dependencies, event) };

export const handler = middy<ApiEvent, Reply>().use(identified()).use(errorReplies()).handler(route(routes));
