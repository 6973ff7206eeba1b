import middy from '@middy/core';
import { createDatabase } from '../../shared/database/client.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { identify } from '../../shared/http/api-event.ts';
import { errorReplies } from '../../shared/http/error-replies.ts';
import { createLimiterStore } from '../../shared/keys/limiter-store.ts';
import { createInventory } from '../../shared/models/inventory.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { health } from './health.ts';
import { listModels } from './models.ts';
import { route } from './router.ts';
import { version } from './version.ts';

const database = createDatabase();
const models = createModelStore(database, environmentVariable('MODELS_TABLE'));
const keys = createLimiterStore(database, environmentVariable('KEYS_TABLE'));

export const handler = middy({ timeoutEarlyInMillis: 0 })
  .use(identify())
  .use(errorReplies())
  .handler(
    route({
      '/v1/chat/completions': { POST: 'elsewhere' },
      '/v1/models': { GET: listModels(createInventory(models, SERVERLESS_POOL, Date.now)) },
      '/health': { GET: health({ inventory: () => models.list(SERVERLESS_POOL), keys: () => keys.sweptEpoch() }, Date.now) },
      '/version': { GET: version({ version: process.env.SLUICE_VERSION ?? 'unknown', commit: process.env.SLUICE_COMMIT ?? 'unknown' }) },
    }),
  );
