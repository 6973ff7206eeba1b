import type { Dependencies, Serve } from '../../../../functions/inference/pipeline/dependencies.ts';
import type { NewModel } from '../../../../shared/models/model.ts';
import { SERVERLESS_POOL } from '../../../../shared/models/model-store.ts';
import { toUpstreamError } from '../../../../shared/upstream/errors.ts';
import type { Invocation, Invoke } from '../../../../shared/upstream/invocation.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import type { TestKey } from '../../../support/fixtures/create-key.ts';
import { END, read, startTestPipeline, text } from '../../../support/fixtures/pipeline.ts';

/** The answer of a model's endpoint. */
export type Behaviour = (invocation: Invocation) => ReturnType<Invoke>;

export const answers: Behaviour = async function* () {
  yield text('Hello');
  yield END;
};

/** An endpoint that fails before its first chunk, as the SageMaker runtime or its connection reports it. */
export const failsWith = (thrown: object): Behaviour =>
  async function* () {
    yield* [];
    throw toUpstreamError(Object.assign(new Error(), thrown));
  };

/** The failures of a model, by the code that its caller would see. */
export const FAILURES = {
  no_capacity: { name: 'ThrottlingException' },
  upstream_error: { name: 'ModelError', facts: { OriginalStatusCode: 500 } },
  upstream_timeout: { name: 'TimeoutError' },
  model_not_ready: { name: 'ModelNotReadyException' },
} as const;

/** Publishes a model with an endpoint of its name, at a price of so many nano-dollars a token. */
export const publish = (database: TestDatabase, name: string, nanosPerToken = 1, own: Partial<NewModel> = {}): Promise<void> =>
  database.models.put(SERVERLESS_POOL, {
    status: 'published',
    created: 0,
    context_length: 1_000,
    max_output_tokens: 100,
    default_output_tokens: 50,
    name,
    targets: [{ endpoint: name }],
    prices: [
      {
        version: `price of ${name}`,
        effective_at: 0,
        prompt_nanos: nanosPerToken * 1_000_000,
        completion_nanos: nanosPerToken * 1_000_000,
      },
    ],
    ...own,
  });

/** The pipeline over real tables, for endpoints that behave as a test says. */
export const startFallbackPipeline = async () => {
  const pipeline = await startTestPipeline();
  return {
    database: pipeline.database,
    limiters: pipeline.limiters,
    close: pipeline.close,
    setUp: async (behaviours: Record<string, Behaviour>, change: Partial<Dependencies> = {}, limits: Partial<TestKey> = {}) => {
      const invoked: string[] = [];
      const invoke = (invocation: Invocation) => {
        invoked.push(invocation.target.endpoint);
        return (behaviours[invocation.target.endpoint] ?? answers)(invocation);
      };
      return { invoked, ...(await pipeline.setUp(invoke, change, limits)) };
    },
  };
};

/** The whole body of a reply, streamed or not. */
export const bodyOf = async (reply: Awaited<ReturnType<Serve>>): Promise<string> =>
  typeof reply.body === 'string' ? reply.body : read(reply);
