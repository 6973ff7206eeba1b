import { type Call, type Caller, createCaller } from '../aws/caller.ts';
import type { FieldNames } from '../http/errors.ts';
import type { Target } from '../models/model.ts';
import type { UpstreamChunk } from './chunk.ts';
import { BrokenAtWork, isBrokenConnection, toUpstreamError } from './errors.ts';
import { type AnswerReader, createAnswerReader } from './read-answer.ts';

const CONNECT_MS = 2_000;
/** The container may take this long until its first byte. */
const SILENCE_MS = 300_000;
/** Of an error. */
const MAX_REPLY_BYTES = 1024 * 1024;
const MAX_SOCKETS = 1_024;
/** A stale keep-alive connection breaks at once. If it breaks later than this, the request may have reached the container. */
const STALE_CONNECTION_MS = 250;

const OVER: IteratorResult<UpstreamChunk[]> = { done: true, value: undefined };

export interface Invocation {
  target: Target;
  /** The JSON body for the container. */
  body: string;
  /** The number of choices that must finish. */
  choices: number;
  signal: AbortController;
  /** Equal for requests whose prompts begin alike; sent to endpoints with prefix-aware routing. */
  affinity?: string | undefined;
  /** The route's names for a chat completion's fields. */
  names?: FieldNames | undefined;
  /** Called when the container has accepted the request and the head of its reply has arrived. */
  onHead?: () => void;
}

/**
 * The chunks of an answer, one batch per payload part. The invocation starts with the first `next`, which throws the errors of `toUpstreamError`; only one
 * call may be pending at a time. `return` stops the container, unless the answer is complete. An async generator is one, too.
 */
export type AnswerBatches = AsyncIterable<UpstreamChunk[]> & Required<Pick<AsyncIterator<UpstreamChunk[]>, 'next' | 'return'>>;

export type Invoke = (invocation: Invocation) => AnswerBatches;

const named = new WeakMap<Target, Call['headers']>();

/** The headers of a target's invocations: always the same list, which is signed faster. */
const headersOf = (target: Target): Call['headers'] => {
  const known = named.get(target);
  if (known) return known;
  const { component } = target;
  const json = ['content-type', 'application/json'] as const;
  const made = Object.freeze(component === undefined ? [json] : [json, ['x-amzn-sagemaker-inference-component', component] as const]);
  named.set(target, made);
  return made;
};

/**
 * Invokes the SageMaker runtime
 * (https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpointWithResponseStream.html). ALWAYS uses the streaming call: the
 * plain one times out after 60 s. Never retries, because an invocation is not idempotent. It is sent once more only if the connection broke at once,
 * as a keep-alive connection does that was closed while the environment was frozen. There is one client per region, created when first needed.
 */
export const createInvoke = (): Invoke => {
  const callers = new Map<string, Caller>();
  const callerFor = (region: string | undefined): Caller => {
    const known = callers.get(region ?? '');
    if (known) return known;
    const caller = createCaller({
      service: 'sagemakerRuntime',
      region,
      connectMs: CONNECT_MS,
      silenceMs: SILENCE_MS,
      maxReplyBytes: MAX_REPLY_BYTES,
      maxSockets: MAX_SOCKETS,
    });
    callers.set(region ?? '', caller);
    return caller;
  };

  /** Sends an invocation and reads the head of its reply. */
  const open = async ({ target, body, choices, signal, affinity, onHead }: Invocation): Promise<AnswerReader> => {
    const known = headersOf(target);
    const headers =
      target.prefix_aware && affinity !== undefined ? [...known, ['x-amzn-sagemaker-prefix-aware-id', affinity] as const] : known;
    const path = `/endpoints/${encodeURIComponent(target.endpoint)}/invocations-response-stream`;
    const send = () => callerFor(target.region).open({ path, headers, body, signal: signal.signal });
    const sentAtMs = performance.now();
    const reply = await send().catch((error: unknown) => {
      if (!isBrokenConnection(error) || signal.signal.aborted) throw error;
      if (performance.now() - sentAtMs > STALE_CONNECTION_MS) throw new BrokenAtWork(error);
      return send();
    });
    onHead?.();
    return createAnswerReader(reply, choices, () => signal.abort());
  };

  // Not an async generator: that makes three promises more for each batch.
  return (invocation) => {
    let hasStarted = false;
    let hasEnded = false;
    let answer: AnswerReader | undefined;
    const end = (isRead: boolean): void => {
      answer?.close();
      // Only an abort stops the container; leaving the loop does not.
      if (hasStarted && !hasEnded && !isRead) invocation.signal.abort();
      hasEnded = true;
    };
    const batches: AnswerBatches = {
      next: async () => {
        if (hasEnded) return OVER;
        hasStarted = true;
        try {
          answer ??= await open(invocation);
          const batch = await answer.next();
          if (batch) return { value: batch };
        } catch (error) {
          end(false);
          throw toUpstreamError(error, invocation.names, invocation.body);
        }
        end(true);
        return OVER;
      },
      return: async () => {
        end(false);
        return OVER;
      },
      [Symbol.asyncIterator]: () => batches,
    };
    return batches;
  };
};
