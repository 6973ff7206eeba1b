import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import { messages } from '../../../../functions/inference/messages/route.ts';
import type { Dependencies, Serve } from '../../../../functions/inference/pipeline/dependencies.ts';
import { serve } from '../../../../functions/inference/pipeline/pipeline.ts';
import { createTargetHealth } from '../../../../functions/inference/targets/target-health.ts';
import { inferenceHostRoutes } from '../../../../shared/hosts/inference-routes.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { toErrorReply } from '../../../../shared/middleware/error-replies.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import type { Invoke } from '../../../../shared/upstream/invocation.ts';
import { createCacheSalt } from '../../../../shared/upstream/request-body.ts';
import { makeCaller, wide } from '../../../support/fixtures/callers.ts';
import { createKey, type TestKey } from '../../../support/fixtures/create-key.ts';
import { noCapacity, noPayloadLog, noQueue, noShadow, noTokenizer, startTestPipeline } from '../../../support/fixtures/pipeline.ts';

/** The route of messages over a database of its own, for upstreams that a test provides. */
export const startMessagesRoute = async () => {
  const { database, close } = await startTestPipeline();

  const setUp = async (invoke: Invoke, change: Partial<Dependencies> = {}, limits: Partial<TestKey> = {}) => {
    const { secret, key_id } = await createKey(database.limiters, { ...wide, ...limits });
    const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
    const deps: Dependencies = {
      host: { scope: 'serverless' },
      modelsOf: () => inventory,
      keys: makeCaller(database.limiters, Date.now),
      usage: database.usage,
      settlements: noQueue,
      tokenizer: noTokenizer,
      invoke,
      invokeWhole: invoke,
      health: createTargetHealth(Date.now),
      idempotency: createIdempotencyStore(database.database, database.tables.Responses as string, Date.now),
      cacheSalt: createCacheSalt('secret'),
      capacity: noCapacity,
      payloadLog: noPayloadLog,
      shadow: noShadow,
      now: Date.now,
      ...change,
    };
    const { path } = inferenceHostRoutes.createMessage;
    const respond = serve(path, messages, deps);
    /** A reply, also to a request that is rejected. */
    const call = (body: object, headers: Record<string, string> = {}, remainingMs = 600_000): ReturnType<Serve> => {
      const event = {
        headers: { 'x-api-key': secret, ...headers },
        path,
        resource: path,
        body: JSON.stringify({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...body }),
        requestContext: {},
        requestId: newRequestId(Date.now()),
        receivedAtMs: Date.now(),
      } as unknown as ApiEvent;
      return respond(event, { getRemainingTimeInMillis: () => remainingMs }).catch((error: unknown) => toErrorReply(error, event));
    };
    return { call, events: () => database.recentEvents(key_id) };
  };
  return { setUp, close };
};

export type MessagesRoute = Awaited<ReturnType<typeof startMessagesRoute>>;
