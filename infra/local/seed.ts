import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { createDatabase } from '../../shared/database/client.ts';
import { isKeyItem } from '../../shared/keys/key.ts';
import { parseSecret, sameHash } from '../../shared/keys/secret.ts';
import { createLimiterStore } from '../../shared/limiters/limiter-store.ts';
import type { Model, NewModel, TokenizerFiles } from '../../shared/models/model.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createOperatorKey, operatorOrigin } from '../admin/accounts.ts';
import { uploadTokenizer } from '../admin/tokenizer-files.ts';
import { REGION } from './assembly/resolve.ts';
import { LOCAL_COMPONENT, LOCAL_MODEL, REASONING_COMPONENT, REASONING_MODEL } from './container.ts';
import type { LocalFacts } from './local-facts.ts';
import type { LocalRun } from './run.ts';
import { type DemoAdmin, seedAdmin } from './seed-admin.ts';

/** The demo key, the model that it may call, and the login of the admin. */
export interface Demo extends DemoAdmin {
  readonly api_key: string;
  readonly model: string;
}

const CONTAINER = path.join(import.meta.dirname, '../container');
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

/** What all models of a local run have in common, with the prices of a small real one: $0.10 and $0.40 for a million tokens. */
const demoModel = {
  status: 'published',
  created: 1_790_000_000,
  context_length: 8_192,
  max_output_tokens: 4_096,
  default_output_tokens: 512,
  prices: [{ version: 'price_demo_1', effective_at: 0, prompt_nanos: 100_000_000, completion_nanos: 400_000_000 }],
} satisfies Partial<NewModel>;

const tinyTarget = { endpoint: LOCAL_MODEL, component: LOCAL_COMPONENT };

/** Our own container serves one model under two names, each in the words of a dialect of its own. */
const ownModels = (tokenizer: TokenizerFiles): NewModel[] => [
  { ...demoModel, name: LOCAL_MODEL, dialect: 'sluice', tokenizer, targets: [tinyTarget] },
  {
    ...demoModel,
    name: REASONING_MODEL,
    dialect: 'vllm',
    capabilities: { thinking_budget: true },
    tokenizer,
    targets: [{ endpoint: REASONING_MODEL, component: REASONING_COMPONENT, container_model: REASONING_MODEL }],
  },
];

/** A foreign container serves one, of whose tokenizer nothing is known. What an earlier run published beside it is no longer there. */
const foreignModels = (containerModel: string): NewModel[] => {
  const targets: NewModel['targets'] = [{ ...tinyTarget, container_model: containerModel }];
  return [
    { ...demoModel, name: LOCAL_MODEL, dialect: 'vllm', targets },
    { ...demoModel, name: REASONING_MODEL, status: 'unpublished', targets },
  ];
};

const uploadContainerFiles = async (run: LocalRun): Promise<TokenizerFiles> => {
  const read = (file: string): Promise<string> => readFile(path.join(CONTAINER, file), 'utf8');
  const client = new S3Client({ endpoint: run.s3Endpoint, region: REGION, credentials, forcePathStyle: true });
  try {
    const [tokenizer, chatTemplate] = await Promise.all([read('tokenizer.json'), read('chat_template.jinja')]);
    return await uploadTokenizer(client, run.buckets.Tokenizers as string, { tokenizer, chatTemplate });
  } finally {
    client.destroy();
  }
};

/** What a start leaves as it is. */
const kept = (before: Model | undefined): Partial<NewModel> => (before ? { prices: before.prices, version: before.version + 1 } : {});

/** The tables of a local run, for code outside its functions. */
export const openLocalDatabase = (endpoint: string) => createDatabase({ endpoint, region: REGION, credentials });

/**
 * Puts the demo models and a demo key into the tables of a local run, and the container's tokenizer into its bucket.
 * @param previous the facts of the last run in the same state folder; its key is kept while it is still valid
 * @param containerModel what a foreign container calls its model
 */
export const seedDemo = async (run: LocalRun, previous: LocalFacts | undefined, containerModel?: string): Promise<Demo> => {
  const database = openLocalDatabase(run.dynamodbEndpoint);
  const limiters = createLimiterStore(database, run.tables.Keys as string);
  const models = createModelStore(database, run.tables.Models as string);
  const published = containerModel === undefined ? ownModels(await uploadContainerFiles(run)) : foreignModels(containerModel);
  const known = await models.list(SERVERLESS_POOL);
  // What was changed of a model since stays but for what this run decides; its prices do above all, because events name them.
  await Promise.all(published.map((model) => models.put(SERVERLESS_POOL, { ...model, ...kept(known.get(model.name)) })));

  const tables = {
    database,
    accountsTable: run.tables.Accounts as string,
    auditTable: run.tables.Audit as string,
    keysTable: run.tables.Keys as string,
  };
  const admin = await seedAdmin(run, tables, previous);
  const presented = previous && parseSecret(previous.api_key);
  const item = presented && (await limiters.get(presented.keyId));
  if (previous && item && isKeyItem(item) && sameHash(presented.hash, item.h) && item.status === 'active')
    return { ...admin, api_key: previous.api_key, model: LOCAL_MODEL };
  const { secret } = await createOperatorKey(tables, operatorOrigin('npm start', Date.now()), {
    org: 'org_demo',
    scope: 'serverless',
    requests_per_minute: 3_000,
    tokens_per_minute: 10_000_000,
    concurrency: 256,
  });
  return { ...admin, api_key: secret, model: LOCAL_MODEL };
};
