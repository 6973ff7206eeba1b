import path from 'node:path';
import middy from '@middy/core';
import { createLimiterCache } from '../../shared/admission/limiter-cache.ts';
import { createLimiterStore } from '../../shared/admission/limiter-store.ts';
import { createDatabase } from '../../shared/database/client.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { hostOfEnvironment } from '../../shared/hosts/host.ts';
import { identify } from '../../shared/http/api-event.ts';
import { errorReplies } from '../../shared/http/error-replies.ts';
import { createReference } from '../../shared/http/reference.ts';
import { route } from '../../shared/http/router.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { createInventory } from '../../shared/models/inventory.ts';
import type { Model } from '../../shared/models/model.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createResponseStore } from '../../shared/responses/response-store.ts';
import { health } from './health.ts';
import { retrieveKey } from './key.ts';
import { listModels, ownDeployments, retrieveModel, sharedModels } from './models.ts';
import { deleteResponse, listInputItems, retrieveResponse } from './responses.ts';
import { version } from './version.ts';

const now = Date.now;
const database = createDatabase();
const models = createModelStore(database, environmentVariable('MODELS_TABLE'));
const limiters = createLimiterStore(database, environmentVariable('KEYS_TABLE'));
const keys = { store: limiters, cache: createLimiterCache(), now };
const host = hostOfEnvironment();
const isShared = host.scope === 'serverless';
const responses = { host, keys, store: createResponseStore(database, environmentVariable('RESPONSES_TABLE'), now) };
const listing = isShared
  ? sharedModels(createInventory(models, SERVERLESS_POOL, now))
  : ownDeployments(keys, host, createDeployments(models, now));
/** Which deployments there are is told to nobody without a key. */
const inventory = () => (isShared ? models.list(SERVERLESS_POOL) : models.list(SERVERLESS_POOL).then(() => new Map<string, Model>()));
const reference = createReference(path.join(import.meta.dirname, 'reference'));

const deployed = { version: process.env.SLUICE_VERSION ?? 'unknown', commit: process.env.SLUICE_COMMIT ?? 'unknown' };

/** What the shared models' host serves beside what both do. */
const SERVERLESS_ONLY = {
  '/v1/completions': { POST: 'elsewhere' },
  '/tokenize': { POST: 'elsewhere' },
  '/detokenize': { POST: 'elsewhere' },
} as const;

export const handler = middy({ timeoutEarlyInMillis: 0 })
  .use(identify())
  .use(errorReplies())
  .handler(
    route({
      '/v1/chat/completions': { POST: 'elsewhere' },
      ...(isShared && SERVERLESS_ONLY),
      '/v1/responses': { POST: 'elsewhere' },
      '/v1/responses/{id}': { GET: retrieveResponse(responses), DELETE: deleteResponse(responses) },
      '/v1/responses/{id}/input_items': { GET: listInputItems(responses) },
      '/v1/models': { GET: listModels(listing) },
      '/v1/models/{model+}': { GET: retrieveModel(listing) },
      '/v1/key': { GET: retrieveKey(keys, host) },
      '/health': { GET: health({ inventory, keys: () => limiters.sweptEpoch() }, now) },
      '/version': { GET: version(deployed) },
      '/openapi.json': { GET: reference.document },
      '/docs': { GET: reference.page },
      '/docs/{file}': { GET: reference.viewerFile },
    }),
  );
