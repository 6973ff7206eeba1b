import { embeddings } from '../../../../functions/inference/embeddings/route.ts';
import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Dependencies, Serve } from '../../../../functions/inference/pipeline/dependencies.ts';
import type { PoolingRequest, PoolingRoute } from '../../../../functions/inference/pooling/pooling-route.ts';
import { servePooling } from '../../../../functions/inference/pooling/serve-pooling.ts';
import { createTargetHealth } from '../../../../functions/inference/targets/target-health.ts';
import { createLimiterStore } from '../../../../shared/admission/stores/limiter-store.ts';
import { inferenceHostRoutes } from '../../../../shared/hosts/inference-routes.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import type { NewModel } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import { createCacheSalt } from '../../../../shared/upstream/request-body.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import { startTestDatabase } from '../../../support/emulators/database.ts';
import { makeCaller, wide } from '../../../support/fixtures/callers.ts';
import { createKey, type TestKey } from '../../../support/fixtures/create-key.ts';
import { noCapacity, noPayloadLog, noQueue, noShadow, noTokenizer, read } from '../../../support/fixtures/pipeline.ts';

export const DIMENSIONS = 4;
export const LARGE_DIMENSIONS = 16_384;
export const PRICE_NANOS = 1_000_000;

/** The body that a runtime gets. */
export interface SentBody {
  model: string;
  input: (string | number[])[];
  encoding_format: string;
  dimensions?: number;
  request_id: string;
  cache_salt: string;
}

/** A vector of its own for each text, all of whose values are exact in 32 bits. */
export const vectorOf = (input: string | number[], dimensions = DIMENSIONS): number[] =>
  Array.from({ length: dimensions }, (_, place) => (input.length + place) / 8);

export const base64Of = (vector: readonly number[]): string => {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * 4);
  return bytes.toString('base64');
};

/** A reply as vLLM makes it: one token for each text. */
export const vllmReply = ({ input, dimensions }: SentBody): Record<string, unknown> => ({
  object: 'list',
  data: input.map((text, index) => ({ object: 'embedding', index, embedding: base64Of(vectorOf(text, dimensions)) })),
  usage: { prompt_tokens: input.length, total_tokens: input.length },
});

/** An upstream that answers each call with an object, or the text of a body. */
export const repliesWith = <Sent = SentBody>(reply: (sent: Sent, invocation: Invocation) => unknown): Invoke =>
  async function* (invocation) {
    const answer = await reply(JSON.parse(invocation.body) as Sent, invocation);
    yield [{ body: Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer)) }];
  };

// `e` embeds, `short` makes shorter vectors and has a tokenizer, `spread` has two targets, `large` has long vectors;
// `m` generates.
const models: Record<string, Partial<NewModel>> = {
  e: { task: 'embed', embedding: { dimensions: DIMENSIONS } },
  short: {
    task: 'embed',
    embedding: { dimensions: DIMENSIONS, is_shortenable: true },
    tokenizer: { tokenizer: 'k', vocabulary_size: 100 },
  },
  spread: { task: 'embed', embedding: { dimensions: DIMENSIONS }, targets: [{ endpoint: 'a' }, { endpoint: 'b' }] },
  large: { task: 'embed', embedding: { dimensions: LARGE_DIMENSIONS } },
  m: {},
};

/** A route for vectors or scores over real tables. @param model of requests that name none */
export const startPooling = async <Request extends PoolingRequest, Result>(
  path: string,
  route: PoolingRoute<Request, Result>,
  models: Record<string, Partial<NewModel>>,
  model: string,
) => {
  const database = await startTestDatabase();
  for (const [name, fields] of Object.entries(models))
    await database.models.put(SERVERLESS_POOL, {
      status: 'published',
      created: 0,
      context_length: 1_000,
      max_output_tokens: 1,
      default_output_tokens: 1,
      targets: [{ endpoint: 'a' }],
      prices: [{ version: 'p1', effective_at: 0, prompt_nanos: PRICE_NANOS * 1_000_000, completion_nanos: PRICE_NANOS * 1_000_000 }],
      ...fields,
      name,
    });
  const limiters = createLimiterStore(database.database, database.tables.Keys as string);

  /** A key of its own, and calls with it. */
  const setUp = async (invokeWhole: Invoke, change: Partial<Dependencies> = {}, limits: Partial<TestKey> = {}) => {
    const { secret, key_id } = await createKey(database.limiters, { ...wide, ...limits });
    const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
    const sent: SentBody[] = [];
    const deps: Dependencies = {
      host: { scope: 'serverless' },
      modelsOf: () => inventory,
      keys: makeCaller(limiters, Date.now),
      usage: createUsageStore(database.database, database.tables.Usage as string),
      settlements: noQueue,
      tokenizer: noTokenizer,
      invoke: () => {
        throw new Error('The reply is not streamed.');
      },
      invokeWhole: (invocation) => {
        sent.push(JSON.parse(invocation.body) as SentBody);
        return invokeWhole(invocation);
      },
      health: createTargetHealth(Date.now),
      idempotency: createIdempotencyStore(database.database, database.tables.Responses as string, Date.now),
      cacheSalt: createCacheSalt('secret'),
      capacity: noCapacity,
      payloadLog: noPayloadLog,
      shadow: noShadow,
      now: Date.now,
      ...change,
    };
    const respond = servePooling(path, route, deps);
    const eventOf = (body: unknown, headers: Record<string, string> = {}): ApiEvent =>
      ({
        headers: { Authorization: `Bearer ${secret}`, ...headers },
        path,
        resource: path,
        body: typeof body === 'string' ? body : JSON.stringify({ model, ...(body as object) }),
        requestContext: {},
        requestId: newRequestId(Date.now()),
        receivedAtMs: Date.now(),
      }) as unknown as ApiEvent;
    const call = (body: unknown, headers?: Record<string, string>, remainingMs = 600_000): ReturnType<Serve> =>
      respond(eventOf(body, headers), { getRemainingTimeInMillis: () => remainingMs });
    const events = () => database.recentEvents(key_id);
    const inFlight = async (): Promise<number> => Object.keys((await database.limiters.whole(key_id))?.fl ?? {}).length;
    return { call, sent, events, inFlight };
  };
  return { setUp, close: database.close };
};

/** The route for embeddings over real tables. */
export const startEmbeddings = () => startPooling(inferenceHostRoutes.createEmbeddings.path, embeddings, models, 'e');

/** A whole reply, however it is written. */
export const bodyOf = async (reply: Awaited<ReturnType<Serve>>): Promise<Record<string, unknown>> =>
  JSON.parse(typeof reply.body === 'string' ? reply.body : await read(reply)) as Record<string, unknown>;
