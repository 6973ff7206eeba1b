import { createLimiterCache } from '../../shared/admission/limiter-cache.ts';
import { createLimiterStore } from '../../shared/admission/limiter-store.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { hostOfEnvironment } from '../../shared/hosts/host.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { createInventory, type Inventory } from '../../shared/models/inventory.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createResponseStore } from '../../shared/responses/response-store.ts';
import { createTokenizer } from '../../shared/tokens/tokenizer.ts';
import { createInvoke } from '../../shared/upstream/invoke.ts';
import { createCacheSalt } from '../../shared/upstream/request-body.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { chatCompletions } from './chat/route.ts';
import { completions } from './completions/route.ts';
import { createIdempotencyStore } from './idempotency/idempotency-store.ts';
import { serve } from './pipeline/pipeline.ts';
import { responses } from './responses/route.ts';
import { serveRoutes } from './serve-routes.ts';
import { streamingHandler } from './streaming-handler.ts';
import { detokenize, tokenize } from './tokenize/routes.ts';

const { database, once } = createDirectDatabases();
const now = Date.now;
const host = hostOfEnvironment();
const models = createModelStore(database, environmentVariable('MODELS_TABLE'));
/** On the serverless host the shared models, on the on-demand host each organization's own deployments. */
const modelsOf = (): ((organization: string) => Inventory) => {
  if (host.scope === 'on_demand') return createDeployments(models, now);
  const shared = createInventory(models, SERVERLESS_POOL, now);
  return () => shared;
};

const dependencies = {
  host,
  modelsOf: modelsOf(),
  keys: { store: createLimiterStore(database, environmentVariable('KEYS_TABLE'), once), cache: createLimiterCache(), now },
  usage: createUsageStore(database, environmentVariable('USAGE_TABLE')),
  invoke: createInvoke(),
  idempotency: createIdempotencyStore(database, environmentVariable('RESPONSES_TABLE'), now),
  tokenizer: createTokenizer(environmentVariable('TOKENIZER_FUNCTION')),
  cacheSalt: createCacheSalt(environmentVariable('CACHE_SALT_SECRET')),
  now,
};

const store = createResponseStore(database, environmentVariable('RESPONSES_TABLE'), now);
const structuredOutputs = environmentVariable('STRUCTURED_OUTPUTS') === 'true';
export const handler = streamingHandler(
  serveRoutes({
    createChatCompletion: (path) => serve(path, chatCompletions({ structuredOutputs }), dependencies),
    createCompletion: (path) => serve(path, completions, dependencies),
    createResponse: (path) => serve(path, responses({ structuredOutputs, store, now }), dependencies),
    tokenize: (path) => tokenize(path, dependencies),
    detokenize: (path) => detokenize(path, dependencies),
  }),
);
