import { createLimiterCache } from '../../shared/admission/limiter-cache.ts';
import { IN_FLIGHT } from '../../shared/admission/limiter-item.ts';
import { createLimiterStore } from '../../shared/admission/limiter-store.ts';
import { createInvokeLater } from '../../shared/aws/invoke-function.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import { createItemReader } from '../../shared/database/item-reader.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { hostOfEnvironment } from '../../shared/hosts/host.ts';
import { lazy } from '../../shared/http/lazy.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { createInventory, type Inventory } from '../../shared/models/inventory.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createResponseStore } from '../../shared/responses/response-store.ts';
import { createTokenizer } from '../../shared/tokens/tokenizer.ts';
import { createInvoke } from '../../shared/upstream/invoke.ts';
import { createCacheSalt } from '../../shared/upstream/request-body.ts';
import type { QueuedSettlement, SettlementQueue } from '../../shared/usage/settlement-queue.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import type { Capacity } from './capacity/capacity.ts';
import { createIdempotencyStore } from './idempotency/idempotency-store.ts';
import type { LogPayload } from './payload-log/payload-log.ts';
import { serve } from './pipeline/pipeline.ts';
import { createTargetHealth } from './pipeline/target-health.ts';
import { serveRoutes } from './serve-routes.ts';
import { streamingHandler } from './streaming-handler.ts';

const { database, once } = createDirectDatabases({ readItem: createItemReader(IN_FLIGHT) });
const now = Date.now;
const host = hostOfEnvironment();
const models = createModelStore(database, environmentVariable('MODELS_TABLE'));
/** On the serverless host the shared models, on the on-demand host each organization's own deployments. */
const modelsOf = (): ((organization: string) => Inventory) => {
  if (host.scope === 'on_demand') return createDeployments(models, now);
  const shared = createInventory(models, SERVERLESS_POOL, now);
  return () => shared;
};

/** Loaded when the database fails. */
const settlementQueue = async (): Promise<SettlementQueue> =>
  (await import('../../shared/usage/settlement-queue.ts')).createSettlementQueue(environmentVariable('SETTLEMENTS_QUEUE'));

/** Loaded by the first request whose deployment has no capacity. */
let capacity: Promise<Capacity> | undefined;
const loadCapacity = async (): Promise<Capacity> => {
  const { capacityOverDatabase } = await import('./capacity/over-database.ts');
  const invokeLater = createInvokeLater();
  return capacityOverDatabase({
    database,
    models,
    host,
    now,
    table: environmentVariable('DEPLOYMENTS_TABLE'),
    maxHeldRequests: process.env.MAX_HELD_REQUESTS,
    reconcile: (reconcile) => invokeLater(environmentVariable('DEPLOYMENTS_FUNCTION'), { reconcile }),
  });
};

/** Loaded after the reply to the first request whose content is logged. */
let payloadLog: Promise<LogPayload> | undefined;
const loadPayloadLog = async (): Promise<LogPayload> => {
  const { payloadLogOver } = await import('./payload-log/over-database.ts');
  return payloadLogOver(database, environmentVariable('OBSERVABILITY_TABLE'), environmentVariable('PAYLOADS_BUCKET'));
};

const dependencies = {
  host,
  modelsOf: modelsOf(),
  keys: { store: createLimiterStore(database, environmentVariable('KEYS_TABLE'), once), cache: createLimiterCache(), now },
  usage: createUsageStore(database, environmentVariable('USAGE_TABLE')),
  settlements: { send: async (settlement: QueuedSettlement) => (await settlementQueue()).send(settlement) },
  invoke: createInvoke(),
  health: createTargetHealth(now),
  idempotency: createIdempotencyStore(database, environmentVariable('RESPONSES_TABLE'), now),
  tokenizer: createTokenizer(environmentVariable('TOKENIZER_FUNCTION')),
  cacheSalt: createCacheSalt(environmentVariable('CACHE_SALT_SECRET')),
  capacity: () => {
    capacity ??= loadCapacity();
    return capacity;
  },
  payloadLog: () => {
    payloadLog ??= loadPayloadLog();
    return payloadLog;
  },
  now,
};

const store = createResponseStore(database, environmentVariable('RESPONSES_TABLE'), now);
const structuredOutputs = environmentVariable('STRUCTURED_OUTPUTS') === 'true';

export const handler = streamingHandler(
  serveRoutes({
    createChatCompletion: (path) =>
      lazy(async () => serve(path, (await import('./chat/route.ts')).chatCompletions({ structuredOutputs }), dependencies)),
    createCompletion: (path) => lazy(async () => serve(path, (await import('./completions/route.ts')).completions, dependencies)),
    createResponse: (path) =>
      lazy(async () => serve(path, (await import('./responses/route.ts')).responses({ structuredOutputs, store, now }), dependencies)),
    tokenize: (path) => lazy(async () => (await import('./tokenize/routes.ts')).tokenize(path, dependencies)),
    detokenize: (path) => lazy(async () => (await import('./tokenize/routes.ts')).detokenize(path, dependencies)),
  }),
);
