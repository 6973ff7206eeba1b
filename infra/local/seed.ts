import { createDatabase } from '../../shared/database/client.ts';
import { createKey } from '../../shared/keys/create-key.ts';
import { createLimiterStore } from '../../shared/keys/limiter-store.ts';
import { parseSecret, sameHash } from '../../shared/keys/secret.ts';
import type { NewModel } from '../../shared/models/model.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { REGION } from './assembly/resolve.ts';
import { LOCAL_COMPONENT, LOCAL_MODEL } from './container.ts';
import type { LocalFacts } from './local-facts.ts';
import type { LocalRun } from './run.ts';

/** The demo key and the model that it may call. */
export interface Demo {
  readonly api_key: string;
  readonly model: string;
}

const target = { endpoint: LOCAL_MODEL, component: LOCAL_COMPONENT };

/** The model behind the local endpoint, with the prices of a small real one: $0.10 and $0.40 for a million tokens. */
const demoModel: NewModel = {
  name: LOCAL_MODEL,
  status: 'published',
  created: 1_790_000_000,
  context_length: 8_192,
  max_output_tokens: 4_096,
  default_output_tokens: 512,
  targets: [target],
  prices: [{ version: 'price_demo_1', effective_at: 0, prompt_nanos: 100_000_000, completion_nanos: 400_000_000 }],
};

/** The tables of a local run, for code outside its functions. */
export const openLocalDatabase = (endpoint: string) =>
  createDatabase({ endpoint, region: REGION, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });

/**
 * Puts the demo model and a demo key into the tables of a local run.
 * @param previous the facts of the last run in the same state folder; its key is kept while it is still valid
 * @param containerModel what a foreign container calls its model
 */
export const seedDemo = async (run: LocalRun, previous: LocalFacts | undefined, containerModel?: string): Promise<Demo> => {
  const database = openLocalDatabase(run.dynamodbEndpoint);
  const limiters = createLimiterStore(database, run.tables.Keys as string);
  const demoTarget = { ...target, ...(containerModel && { container_model: containerModel }) };
  await createModelStore(database, run.tables.Models as string).put(SERVERLESS_POOL, { ...demoModel, targets: [demoTarget] });

  const known = previous && parseSecret(previous.api_key);
  const item = known && (await limiters.get(known.keyId));
  if (previous && item && sameHash(known.hash, item.h) && item.status === 'active')
    return { api_key: previous.api_key, model: LOCAL_MODEL };
  const { secret } = await createKey(limiters, {
    org: 'org_demo',
    scope: 'serverless',
    requests_per_minute: 3_000,
    tokens_per_minute: 10_000_000,
    concurrency: 256,
  });
  return { api_key: secret, model: LOCAL_MODEL };
};
