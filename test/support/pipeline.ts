import { chatCompletions } from '../../functions/inference/chat/route.ts';
import { createIdempotencyStore } from '../../functions/inference/idempotency/idempotency-store.ts';
import type { Dependencies, Serve } from '../../functions/inference/pipeline/dependencies.ts';
import { serve } from '../../functions/inference/pipeline/pipeline.ts';
import type { ReplyBody } from '../../functions/inference/pipeline/reply-body.ts';
import { createTargetHealth } from '../../functions/inference/pipeline/target-health.ts';
import { createLimiterStore } from '../../shared/admission/limiter-store.ts';
import { inferenceHostRoutes } from '../../shared/hosts/inference-routes.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { newRequestId } from '../../shared/ids/request-id.ts';
import { createInventory } from '../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import type { Tokenizer } from '../../shared/tokens/tokenizer.ts';
import type { UpstreamChunk } from '../../shared/upstream/chunk.ts';
import type { Invocation, Invoke } from '../../shared/upstream/invocation.ts';
import { createCacheSalt } from '../../shared/upstream/request-body.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { SettlementQueue } from '../../shared/usage/settlement-queue.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { makeCaller, wide } from './callers.ts';
import { createKey, type TestKey } from './create-key.ts';
import { startTestDatabase, type TestDatabase } from './database.ts';
import { openReply } from './open-reply.ts';

/** Publishes two models: `m`, without a tokenizer, and `counted`, with a tokenizer and two targets. */
const publishModels = async (database: TestDatabase): Promise<void> => {
  const common = {
    status: 'published' as const,
    created: 0,
    max_output_tokens: 100,
    default_output_tokens: 50,
    prices: [{ version: 'p1', effective_at: 0, prompt_nanos: 1_000_000, completion_nanos: 2_000_000 }],
  };
  await database.models.put(SERVERLESS_POOL, { ...common, name: 'm', context_length: 1_000, targets: [{ endpoint: 'e' }] });
  await database.models.put(SERVERLESS_POOL, {
    ...common,
    name: 'counted',
    context_length: 3_000,
    tokenizer: { tokenizer: 'k' },
    targets: [{ endpoint: 'e' }, { endpoint: 'f' }],
  });
};

const unexpected = async (): Promise<never> => {
  throw new Error('The tokenizer was called.');
};

/** A tokenizer that must not be called. */
export const noTokenizer: Tokenizer = { fit: unexpected, count: unexpected, tokenize: unexpected, detokenize: unexpected };

/** Of models that are made of no deployment. */
export const noCapacity = async (): Promise<never> => {
  throw new Error('No deployment can be without capacity.');
};

/** Of keys whose content is not logged. */
export const noPayloadLog = async (): Promise<never> => {
  throw new Error('The payload log was loaded.');
};

/** A queue that can't be reached. */
export const noQueue: SettlementQueue = {
  send: async () => {
    throw new Error('The queue is out of reach.');
  },
};

/** The pipeline over real tables, for upstreams that a test provides. @param as the function whose permissions it has; default: all */
export const startTestPipeline = async (as?: string) => {
  const database = await startTestDatabase();
  await publishModels(database);
  const line = as === undefined ? database.database : await database.as(as);
  const limiters = createLimiterStore(line, database.tables.Keys as string);
  const usage = createUsageStore(line, database.tables.Usage as string);
  const idempotencyAt = (now: () => number) => createIdempotencyStore(line, database.tables.Responses as string, now);

  /** A key of its own, and calls with it. */
  const setUp = async (invoke: Invoke, change: Partial<Dependencies> = {}, limits: Partial<TestKey> = {}) => {
    const { secret, key_id } = await createKey(database.limiters, { ...wide, ...limits });
    const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
    const deps: Dependencies = {
      host: { scope: 'serverless' },
      modelsOf: () => inventory,
      keys: makeCaller(limiters, Date.now),
      usage,
      settlements: noQueue,
      tokenizer: noTokenizer,
      invoke,
      health: createTargetHealth(Date.now),
      idempotency: idempotencyAt(Date.now),
      cacheSalt: createCacheSalt('secret'),
      capacity: noCapacity,
      payloadLog: noPayloadLog,
      now: Date.now,
      ...change,
    };
    const { path } = inferenceHostRoutes.createChatCompletion;
    const respond = serve(path, chatCompletions({ structuredOutputs: false }), deps);
    const eventOf = (body: Record<string, unknown>, headers: Record<string, string> = {}): ApiEvent =>
      ({
        headers: { Authorization: `Bearer ${secret}`, ...headers },
        path,
        body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
        requestContext: {},
        requestId: newRequestId(Date.now()),
        receivedAtMs: Date.now(),
      }) as unknown as ApiEvent;
    const serveEvent = (event: ApiEvent, remainingMs = 600_000): ReturnType<Serve> =>
      respond(event, { getRemainingTimeInMillis: () => remainingMs });
    const call = (body: Record<string, unknown>, remainingMs?: number, headers?: Record<string, string>): ReturnType<Serve> =>
      serveEvent(eventOf(body, headers), remainingMs);
    const events = (): Promise<UsageEvent[]> => database.recentEvents(key_id);
    const inFlight = async (): Promise<number> => Object.keys((await database.limiters.whole(key_id))?.fl ?? {}).length;
    return { call, eventOf, serveEvent, events, inFlight, keyId: key_id };
  };
  return { database, limiters, idempotencyAt, setUp, close: database.close };
};

export type TestPipeline = Awaited<ReturnType<typeof startTestPipeline>>;

/** Reads a streamed reply to its end. */
export const read = async (reply: Awaited<ReturnType<Serve>>): Promise<string> => {
  const { stream, done } = openReply(reply.body as ReplyBody);
  const text = (await stream.setEncoding('utf8').toArray()).join('');
  await done;
  return text;
};

export const text = (content: string): UpstreamChunk[] => [{ choices: [{ index: 0, delta: { content } }] }];

/** The last chunks of a reply: seven prompt tokens, two completion tokens. */
export const END: UpstreamChunk[] = [
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } },
];

export const answers: Invoke = async function* () {
  yield text('Hello');
  yield END;
};

/** An upstream that sends these batches and then nothing more until it is aborted. */
export const silentAfter = (...batches: UpstreamChunk[][]): Invoke =>
  async function* ({ signal }: Invocation) {
    yield* batches;
    await new Promise((_, reject) => signal.signal.addEventListener('abort', () => reject(new Error('aborted'))));
  };
