import { IN_FLIGHT } from '../../shared/admission/item/limiter-item.ts';
import { createLimiterCache } from '../../shared/admission/stores/limiter-cache.ts';
import { createLimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import type { Database } from '../../shared/database/database.ts';
import { createItemReader } from '../../shared/database/item-reader.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { hostOfEnvironment } from '../../shared/hosts/host.ts';
import { lazy } from '../../shared/http/lazy.ts';
import { type AliasReader, createAliasStore } from '../../shared/models/alias-store.ts';
import { createDeployments } from '../../shared/models/deployments.ts';
import { createInventory, type Inventory } from '../../shared/models/inventory.ts';
import { createModelStore, type ModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createCachedAliases, withAliases } from '../../shared/models/with-aliases.ts';
import { createResponseStore } from '../../shared/responses/response-store.ts';
import { createTokenizer } from '../../shared/tokens/tokenizer.ts';
import { createCacheSalt } from '../../shared/upstream/request-body.ts';
import type { QueuedSettlement, SettlementQueue } from '../../shared/usage/settlement-queue.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import type { Capacity } from './capacity/capacity.ts';
import { chatCompletions } from './chat/route.ts';
import type { CreateClients, RequestClients } from './clients/clients.ts';
import { createIdempotencyStore } from './idempotency/idempotency-store.ts';
import type { LogPayload } from './payload-log/payload-log.ts';
import type { Dependencies, Serve } from './pipeline/dependencies.ts';
import { serve } from './pipeline/pipeline.ts';
import { serveRoutes } from './serve-routes.ts';
import type { RunShadow } from './shadow/run-shadow.ts';
import { createTargetHealth } from './targets/target-health.ts';
import { warmUp } from './warm-up.ts';

const now = Date.now;
const host = hostOfEnvironment();

// The serverless host has the shared models, the on-demand host each organization's own deployments.
const modelsOf = (models: ModelStore, aliases: AliasReader): ((organization: string) => Inventory) => {
  const aliasesOf = createCachedAliases(aliases, now);
  const shared = createInventory(models, SERVERLESS_POOL, now);
  if (host.scope === 'on_demand') {
    const deploymentsOf = createDeployments(models, now);
    return (organization) => withAliases(deploymentsOf(organization), aliasesOf, [organization], shared);
  }
  return (organization) => withAliases(shared, aliasesOf, [organization, SERVERLESS_POOL]);
};

const once = <Made>(make: () => Made): (() => Made) => {
  let made: { value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

// Needed only if the database fails.
const settlementQueue = async (): Promise<SettlementQueue> =>
  (await import('../../shared/usage/settlement-queue.ts')).createSettlementQueue(environmentVariable('SETTLEMENTS_QUEUE'));

const loadCapacity = async ({ database, createInvokeLater }: RequestClients, models: ModelStore): Promise<Capacity> => {
  const { createDatabaseCapacity } = await import('./capacity/create-capacity.ts');
  const invokeLater = createInvokeLater();
  return createDatabaseCapacity({
    database,
    models,
    host,
    now,
    table: environmentVariable('DEPLOYMENTS_TABLE'),
    keysTable: environmentVariable('KEYS_TABLE'),
    maxHeldRequests: Number(environmentVariable('MAX_HELD_REQUESTS')),
    maxHeldRequestsOfOrganization: Number(environmentVariable('MAX_HELD_REQUESTS_OF_ORGANIZATION')),
    reconcile: (reconcile) => invokeLater(environmentVariable('DEPLOYMENTS_FUNCTION'), { reconcile }),
  });
};

const loadPayloadLog = async (database: Database): Promise<LogPayload> => {
  const { createDatabasePayloadLog } = await import('./payload-log/create-payload-log.ts');
  return createDatabasePayloadLog(database, {
    table: environmentVariable('OBSERVABILITY_TABLE'),
    bucket: environmentVariable('PAYLOADS_BUCKET'),
    queueUrl: environmentVariable('PAYLOADS_QUEUE'),
  });
};

const loadShadow = async ({ database, invoke }: RequestClients): Promise<RunShadow> => {
  const [{ createRunShadow }, { createShadowStore }] = await Promise.all([
    import('./shadow/run-shadow.ts'),
    import('../../shared/deployments/shadow-store.ts'),
  ]);
  return createRunShadow({ shadows: createShadowStore(database, environmentVariable('DEPLOYMENTS_TABLE')), invoke, now });
};

const createDependencies = (clients: RequestClients): Dependencies => {
  const { database, once: callOnce, invoke, invokeWhole, invokeFunction } = clients;
  const modelsTable = environmentVariable('MODELS_TABLE');
  const models = createModelStore(database, modelsTable);
  return {
    host,
    modelsOf: modelsOf(models, createAliasStore(database, modelsTable)),
    keys: { store: createLimiterStore(database, environmentVariable('KEYS_TABLE'), callOnce), cache: createLimiterCache(), now },
    usage: createUsageStore(database, environmentVariable('USAGE_TABLE')),
    settlements: { send: async (settlement: QueuedSettlement) => (await settlementQueue()).send(settlement) },
    invoke,
    invokeWhole,
    health: createTargetHealth(now),
    idempotency: createIdempotencyStore(database, environmentVariable('RESPONSES_TABLE'), now),
    tokenizer: createTokenizer(invokeFunction, environmentVariable('TOKENIZER_FUNCTION')),
    cacheSalt: createCacheSalt(environmentVariable('CACHE_SALT_SECRET')),
    capacity: once(() => loadCapacity(clients, models)),
    payloadLog: once(() => loadPayloadLog(database)),
    shadow: once(() => loadShadow(clients)),
    now,
  };
};

/** The routes that invoke models. Chats are ready at the start, the others are loaded with their first request. */
export const createRoutes = async (createClients: CreateClients): Promise<Serve> => {
  const clients = createClients({ readItem: createItemReader(IN_FLIGHT) });
  const dependencies = createDependencies(clients);
  const store = createResponseStore(clients.database, environmentVariable('RESPONSES_TABLE'), now);
  const rerankWith = (path: string): Serve =>
    lazy(async () =>
      (await import('./pooling/serve-pooling.ts')).servePooling(path, (await import('./rerank/route.ts')).rerank, dependencies),
    );
  await warmUp(clients.areReadyAtStart ? clients.once : undefined, environmentVariable('KEYS_TABLE'));
  return serveRoutes({
    createChatCompletion: (path) => serve(path, chatCompletions, dependencies),
    createCompletion: (path) => lazy(async () => serve(path, (await import('./completions/route.ts')).completions, dependencies)),
    createEmbeddings: (path) =>
      lazy(async () =>
        (await import('./pooling/serve-pooling.ts')).servePooling(path, (await import('./embeddings/route.ts')).embeddings, dependencies),
      ),
    createRerank: rerankWith,
    createRerankV2: rerankWith,
    createResponse: (path) => lazy(async () => serve(path, (await import('./responses/route.ts')).responses({ store, now }), dependencies)),
    createMessage: (path) => lazy(async () => serve(path, (await import('./messages/route.ts')).messages, dependencies)),
    countMessageTokens: (path) => lazy(async () => (await import('./messages/count.ts')).countTokens(path, dependencies)),
    tokenize: (path) => lazy(async () => (await import('./tokenize/routes.ts')).tokenize(path, dependencies)),
    detokenize: (path) => lazy(async () => (await import('./tokenize/routes.ts')).detokenize(path, dependencies)),
  });
};
