import { createIdempotencyStore } from '../../../../functions/inference/idempotency/idempotency-store.ts';
import type { Dependencies, Serve } from '../../../../functions/inference/pipeline/dependencies.ts';
import { serve } from '../../../../functions/inference/pipeline/pipeline.ts';
import { responses } from '../../../../functions/inference/responses/route.ts';
import { createTargetHealth } from '../../../../functions/inference/targets/target-health.ts';
import type { ApiEvent } from '../../../../shared/http/api-event.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { createInventory } from '../../../../shared/models/inventory.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { createResponseStore, type ResponseStore } from '../../../../shared/responses/response-store.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import { createCacheSalt } from '../../../../shared/upstream/request-body.ts';
import type { Whole } from '../../../support/clients/responses-replies.ts';
import { makeCaller, wide } from '../../../support/fixtures/callers.ts';
import { createKey } from '../../../support/fixtures/create-key.ts';
import {
  answers,
  noCapacity,
  noPayloadLog,
  noQueue,
  noShadow,
  noTokenizer,
  startTestPipeline,
} from '../../../support/fixtures/pipeline.ts';

interface Caller {
  org?: string;
  responseStore?: ResponseStore;
  now?: () => number;
  no_content?: true;
}

/** The route of responses over a database of its own. */
export const startResponsesRoute = async () => {
  const pipeline = await startTestPipeline();
  const { database } = pipeline;
  const table = database.tables.Responses as string;
  const store = createResponseStore(database.database, table, Date.now);

  const setUp = async (invoke: Invoke, { org = wide.org, responseStore = store, now = Date.now, ...rules }: Caller = {}) => {
    const { secret, key_id } = await createKey(database.limiters, { ...wide, org, ...rules });
    const inventory = createInventory(database.models, SERVERLESS_POOL, Date.now);
    const deps: Dependencies = {
      host: { scope: 'serverless' },
      modelsOf: () => inventory,
      keys: makeCaller(database.limiters, now),
      usage: database.usage,
      settlements: noQueue,
      tokenizer: noTokenizer,
      invoke,
      invokeWhole: invoke,
      health: createTargetHealth(Date.now),
      idempotency: createIdempotencyStore(database.database, table, Date.now),
      cacheSalt: createCacheSalt('secret'),
      capacity: noCapacity,
      payloadLog: noPayloadLog,
      shadow: noShadow,
      now: Date.now,
    };
    const path = '/v1/responses';
    const respond = serve(path, responses({ store: responseStore, now: Date.now }), deps);
    const call = (body: Record<string, unknown>, headers: Record<string, string> = {}, remainingMs = 600_000): ReturnType<Serve> =>
      respond(
        {
          headers: { Authorization: `Bearer ${secret}`, ...headers },
          path,
          resource: path,
          body: JSON.stringify({ model: 'm', input: 'Hi', ...body }),
          requestContext: {},
          requestId: newRequestId(Date.now()),
          receivedAtMs: Date.now(),
        } as unknown as ApiEvent,
        { getRemainingTimeInMillis: () => remainingMs },
      );
    const create = async (body: Record<string, unknown> = {}): Promise<Whole> => JSON.parse((await call(body)).body as string) as Whole;
    const events = () => database.recentEvents(key_id);
    return { call, create, events, keyId: key_id };
  };

  const rowsWithContent = async (owner: string): Promise<string[]> => {
    const { Items = [] } = await database.sdk.scan({ TableName: table });
    return Items.flatMap(({ id, content }) => (content !== undefined && String(id).includes(owner) ? [String(id)] : []));
  };
  return { database, store, setUp, rowsWithContent, close: pipeline.close };
};

export type ResponsesRoute = Awaited<ReturnType<typeof startResponsesRoute>>;

/** Answers, and records its requests. */
export const listening = () => {
  const sent: { messages: unknown[] }[] = [];
  const invoke: Invoke = async function* (invocation: Invocation) {
    sent.push(JSON.parse(invocation.body as string) as { messages: unknown[] });
    yield* answers(invocation);
  };
  return { sent, invoke };
};
