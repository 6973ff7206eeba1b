import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { NewApiKey } from '../../functions/control/api-keys/api-key.ts';
import { isKeyItem } from '../../shared/admission/item/key-item.ts';
import { parseSecret } from '../../shared/admission/item/secret.ts';
import { createLimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import { createDirectDatabases } from '../../shared/database/direct-database.ts';
import type { HostScope } from '../../shared/hosts/host.ts';
import { sameHash } from '../../shared/ids/checked-secret.ts';
import type { Model, NewModel, TokenizerFiles } from '../../shared/models/model.ts';
import { createModelStore, type ModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { REGION } from '../assembly/resolve.ts';
import { type AccountTables, createOperatorKey, operatorOrigin } from '../tools/admin/accounts.ts';
import { uploadTokenizer } from '../tools/admin/tokenizer-files.ts';
import {
  EMBEDDING_MODEL,
  LOCAL_COMPONENT,
  LOCAL_MODEL,
  poolingComponent,
  REASONING_COMPONENT,
  REASONING_MODEL,
  RERANK_MODEL,
} from './container.ts';
import type { Demo } from './demo-file.ts';
import { LOCAL_TIMEOUT_MS } from './dynamodb/local-timeout.ts';
import { VECTOR_DIMENSIONS } from './model-server/vectors/vectors.ts';
import type { LocalRun } from './run.ts';
import { seedAdmin } from './seed-admin.ts';

// Owner of the demo keys and the demo deployment.
const DEMO_ORGANIZATION = 'org_demo';
const DEPLOYMENT = 'demo-deployment';

const CONTAINER_MODEL = path.join(import.meta.dirname, './model-server/model');
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

// Prices are typical of a small model: $0.10 and $0.40 per million tokens.
const demoModel = {
  status: 'published',
  created: 1_790_000_000,
  context_length: 8_192,
  max_output_tokens: 4_096,
  default_output_tokens: 512,
  prices: [{ version: 'price_demo_1', effective_at: 0, prompt_nanos: 100_000_000, completion_nanos: 400_000_000 }],
} satisfies Partial<NewModel>;

const ownDialect = { dialect: 'sluice', capabilities: { structured_outputs: true } } satisfies Partial<NewModel>;

const tinyTarget = { endpoint: LOCAL_MODEL, component: LOCAL_COMPONENT };

// Models that generate no text: $0.02 per million tokens.
const poolingModel = {
  ...demoModel,
  dialect: 'vllm',
  max_output_tokens: 1,
  default_output_tokens: 1,
  prices: [{ version: 'price_demo_1', effective_at: 0, prompt_nanos: 20_000_000, completion_nanos: 0 }],
} satisfies Partial<NewModel>;

const poolingTargets = (model: string): NewModel['targets'] => [
  { endpoint: model, component: poolingComponent(model), container_model: model },
];

// Our own container serves one language model under two names, each with a different dialect, and two that generate no
// text.
const ownModels = (tokenizer: TokenizerFiles): NewModel[] => [
  { ...demoModel, ...ownDialect, name: LOCAL_MODEL, tokenizer, targets: [tinyTarget] },
  {
    ...demoModel,
    name: REASONING_MODEL,
    dialect: 'vllm',
    capabilities: { thinking_budget: true, structured_outputs: true },
    tokenizer,
    targets: [{ endpoint: REASONING_MODEL, component: REASONING_COMPONENT, container_model: REASONING_MODEL }],
  },
  {
    ...poolingModel,
    name: EMBEDDING_MODEL,
    task: 'embed',
    embedding: { dimensions: VECTOR_DIMENSIONS, is_shortenable: true },
    tokenizer,
    targets: poolingTargets(EMBEDDING_MODEL),
  },
  { ...poolingModel, name: RERANK_MODEL, task: 'rerank', tokenizer, targets: poolingTargets(RERANK_MODEL) },
];

// The tokenizer of a foreign container's model is unknown. The other models of an earlier run are unpublished.
const foreignModels = (targets: NewModel['targets']): NewModel[] => [
  { ...demoModel, name: LOCAL_MODEL, dialect: 'vllm', targets },
  ...[REASONING_MODEL, EMBEDDING_MODEL, RERANK_MODEL].map((name): NewModel => ({ ...demoModel, name, status: 'unpublished', targets })),
];

const uploadContainerFiles = async (run: LocalRun): Promise<TokenizerFiles> => {
  const read = (file: string): Promise<string> => readFile(path.join(CONTAINER_MODEL, file), 'utf8');
  const client = new S3Client({ endpoint: run.s3Endpoint, region: REGION, credentials, forcePathStyle: true });
  try {
    const [tokenizer, chatTemplate] = await Promise.all([read('tokenizer.json'), read('chat_template.jinja')]);
    return await uploadTokenizer(client, run.buckets.Tokenizers as string, { tokenizer, chatTemplate });
  } finally {
    client.destroy();
  }
};

// By pool. A foreign container serves the deployment as well as the shared model.
const publishedModels = async (run: LocalRun, containerModel: string | undefined): Promise<Record<string, NewModel[]>> => {
  if (containerModel !== undefined) {
    const targets: NewModel['targets'] = [{ ...tinyTarget, container_model: containerModel }];
    const deployment: NewModel = { ...demoModel, name: DEPLOYMENT, dialect: 'vllm', targets };
    return { [SERVERLESS_POOL]: foreignModels(targets), [DEMO_ORGANIZATION]: [deployment] };
  }
  const tokenizer = await uploadContainerFiles(run);
  const deployment: NewModel = { ...demoModel, ...ownDialect, name: DEPLOYMENT, tokenizer, targets: [tinyTarget] };
  return { [SERVERLESS_POOL]: ownModels(tokenizer), [DEMO_ORGANIZATION]: [deployment] };
};

// An existing model keeps its prices, because usage events refer to them.
const publish = async (store: ModelStore, pool: string, models: readonly NewModel[]): Promise<void> => {
  const known = await store.list(pool);
  const kept = (before: Model | undefined): Partial<NewModel> => (before ? { prices: before.prices, version: before.version + 1 } : {});
  await Promise.all(models.map((model) => store.put(pool, { ...model, ...kept(known.get(model.name)) })));
};

// The last run's demo key is used again if it is still valid.
const seedKey = async (run: LocalRun, tables: AccountTables, scope: HostScope, previous: string | undefined): Promise<string> => {
  const presented = previous === undefined ? undefined : parseSecret(previous);
  const item = presented && (await createLimiterStore(tables.database, tables.keysTable).get(presented.keyId));
  if (previous && item && isKeyItem(item) && sameHash(presented.hash, item.h) && item.status === 'active') return previous;
  const key = NewApiKey.parse({
    name: 'operator',
    scope,
    limits: { requests_per_minute: 3_000, tokens_per_minute: 10_000_000, concurrency: 50 },
  });
  const operator = operatorOrigin('npm start', run.clock.now());
  const { secret } = await createOperatorKey(tables, operator, { ...key, organization: DEMO_ORGANIZATION });
  return secret;
};

/**
 * Stores the demo models, deployment and keys in the tables of a local run, and the container's tokenizer in its
 * bucket.
 * @param previous the demo of the last run in the same state folder; its keys are kept while they are valid
 * @param containerModel the foreign container's name for its model
 */
export const seedDemo = async (run: LocalRun, previous: Demo | undefined, containerModel?: string): Promise<Demo> => {
  const timeouts = { connectMs: LOCAL_TIMEOUT_MS, silenceMs: LOCAL_TIMEOUT_MS };
  const { database } = createDirectDatabases({ endpoint: run.dynamodbEndpoint, region: REGION, credentials, ...timeouts });
  const models = createModelStore(database, run.tables.Models as string);
  for (const [pool, published] of Object.entries(await publishedModels(run, containerModel))) await publish(models, pool, published);
  const tables = {
    database,
    accountsTable: run.tables.Accounts as string,
    auditTable: run.tables.Audit as string,
    keysTable: run.tables.Keys as string,
    observabilityTable: run.tables.Observability as string,
  };
  return {
    ...(await seedAdmin(run, tables, previous)),
    api_key: await seedKey(run, tables, 'serverless', previous?.api_key),
    model: LOCAL_MODEL,
    ondemand_api_key: await seedKey(run, tables, 'on_demand', previous?.ondemand_api_key),
    ondemand_model: DEPLOYMENT,
  };
};
