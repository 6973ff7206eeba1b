import path from 'node:path';
import middy from '@middy/core';
import { createDatabase } from '../../shared/database/client.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { identify } from '../../shared/http/api-event.ts';
import { errorReplies } from '../../shared/http/error-replies.ts';
import { createReference } from '../../shared/http/reference.ts';
import { route } from '../../shared/http/router.ts';
import { createLimiterCache } from '../../shared/limiters/limiter-cache.ts';
import { createLimiterStore } from '../../shared/limiters/limiter-store.ts';
import { createInventory } from '../../shared/models/inventory.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createResponseStore } from '../../shared/responses/response-store.ts';
import { health } from './health.ts';
import { retrieveKey } from './key.ts';
import { listModels, retrieveModel } from './models.ts';
import { deleteResponse, listInputItems, retrieveResponse } from './responses.ts';
import { version } from './version.ts';

const now = Date.now;
const database = createDatabase();
const models = createModelStore(database, environmentVariable('MODELS_TABLE'));
const inventory = createInventory(models, SERVERLESS_POOL, now);
const limiters = createLimiterStore(database, environmentVariable('KEYS_TABLE'));
const keys = { store: limiters, cache: createLimiterCache(), now };
const host = { scope: 'serverless' as const };
const responses = { host, keys, store: createResponseStore(database, environmentVariable('RESPONSES_TABLE'), now) };
const reference = createReference(path.join(import.meta.dirname, 'reference'));

const deployed = { version: process.env.SLUICE_VERSION ?? 'unknown', commit: process.env.SLUICE_COMMIT ?? 'unknown' };

export const handler = middy({ timeoutEarlyInMillis: 0 })
  .use(identify())
  .use(errorReplies())
  .handler(
    route({
      '/v1/chat/completions': { POST: 'elsewhere' },
      '/v1/completions': { POST: 'elsewhere' },
      '/v1/responses': { POST: 'elsewhere' },
      '/v1/responses/{id}': { GET: retrieveResponse(responses), DELETE: deleteResponse(responses) },
      '/v1/responses/{id}/input_items': { GET: listInputItems(responses) },
      '/tokenize': { POST: 'elsewhere' },
      '/detokenize': { POST: 'elsewhere' },
      '/v1/models': { GET: listModels(inventory) },
      '/v1/models/{model+}': { GET: retrieveModel(inventory) },
      '/v1/key': { GET: retrieveKey(keys, host) },
      '/health': { GET: health({ inventory: () => models.list(SERVERLESS_POOL), keys: () => limiters.sweptEpoch() }, now) },
      '/version': { GET: version(deployed) },
      '/openapi.json': { GET: reference.document },
      '/docs': { GET: reference.page },
      '/docs/{file}': { GET: reference.viewerFile },
    }),
  );
