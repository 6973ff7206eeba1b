import path from 'node:path';
import { createLimiterCache } from '../../shared/admission/stores/limiter-cache.ts';
import { createLimiterReader } from '../../shared/admission/stores/limiter-reader.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { hostOfEnvironment } from '../../shared/hosts/host.ts';
import { absentPaths, type OperationsOf, routesOfHost } from '../../shared/hosts/inference-routes.ts';
import { redirectBrowsers } from '../../shared/hosts/redirect-browsers.ts';
import { API_VERSIONS, serviceRoutes } from '../../shared/hosts/service-routes.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { lazy } from '../../shared/http/lazy.ts';
import type { Reply } from '../../shared/http/reply.ts';
import { type Handle, type Routes, route } from '../../shared/http/router.ts';
import { errorReplies } from '../../shared/middleware/error-replies.ts';
import { identified } from '../../shared/middleware/identified.ts';
import { middy } from '../../shared/middleware/middy.ts';
import type { Model } from '../../shared/models/model.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { health } from './health.ts';

const now = Date.now;
const { database } = createDirectDatabases();
const modelsTable = environmentVariable('MODELS_TABLE');
const models = createModelStore(database, modelsTable);
const limiters = createLimiterReader(database, environmentVariable('KEYS_TABLE'));
const keys = { store: limiters, cache: createLimiterCache(), now };
const host = hostOfEnvironment();
// Health is public, so it doesn't list the deployments of organizations.
const inventory = async () => {
  const shared = await models.list(SERVERLESS_POOL);
  return host.scope === 'serverless' ? shared : new Map<string, Model>();
};

// Both routes share its cache.
const visibleModels = lazy(async () => {
  const { createAliasStore } = await import('../../shared/models/alias-store.ts');
  const { createVisibleModels } = await import('./models.ts');
  return createVisibleModels({ host, keys, models, aliases: createAliasStore(database, modelsTable), now });
});

const modelRoute = (name: 'listModels' | 'retrieveModel'): Handle =>
  lazy(async () => {
    const { [name]: routeWith } = await import('./models.ts');
    return routeWith(visibleModels);
  });

const responseRoute = (name: 'retrieveResponse' | 'deleteResponse' | 'listInputItems'): Handle =>
  lazy(async () => {
    const { createResponseStore } = await import('../../shared/responses/response-store.ts');
    const { [name]: routeWith } = await import('./responses.ts');
    return routeWith({ host, keys, store: createResponseStore(database, environmentVariable('RESPONSES_TABLE'), now) });
  });

const reference = lazy(async () => {
  const { createReference } = await import('../../shared/static-files/reference.ts');
  const files = createReference(path.join(import.meta.dirname, 'reference'));
  return async () => files;
});

const handlers: Record<OperationsOf<'catalog'>, Handle> = {
  retrieveResponse: responseRoute('retrieveResponse'),
  deleteResponse: responseRoute('deleteResponse'),
  listInputItems: responseRoute('listInputItems'),
  listModels: modelRoute('listModels'),
  retrieveModel: modelRoute('retrieveModel'),
  retrieveKey: lazy(async () => (await import('./key.ts')).retrieveKey(keys, host)),
};

// The function `inference` serves some of these routes.
const routes: Routes = {};
for (const { id, method, path: routePath } of routesOfHost(host.scope))
  routes[routePath] = { ...routes[routePath], [method]: id in handlers ? handlers[id as keyof typeof handlers] : 'elsewhere' };

export const handler = middy<ApiEvent, Reply>()
  .use(identified())
  .use(errorReplies())
  .handler(
    redirectBrowsers(
      route(
        {
          ...routes,
          ...serviceRoutes({
            health: health({ inventory, keys: () => limiters.sweptEpoch() }, now),
            reference: {
              document: async (event) => (await reference()).document(event),
              page: async (event) => (await reference()).page(event),
              viewerFile: async (event) => (await reference()).viewerFile(event),
            },
            apiVersion: API_VERSIONS.inference,
          }),
        },
        absentPaths,
      ),
    ),
  );
