import type { FieldNames } from '../http/errors.ts';
import type { Target } from '../models/model.ts';
import type { UpstreamChunk } from './chunk.ts';
import { BrokenAtWork, isBrokenConnection, toUpstreamError } from './errors.ts';
import type { AnswerReader } from './read-answer.ts';

export const CONNECT_MS = 2_000;
export const MAX_SOCKETS = 1_024;
// A stale keep-alive connection breaks at once. If it breaks later, the request may have reached the container.
const STALE_CONNECTION_MS = 250;

const OVER: IteratorResult<UpstreamChunk[]> = { done: true, value: undefined };

export interface Invocation {
  target: Target;
  /** The JSON body for the container. */
  body: string;
  /** The number of choices that must finish. */
  choices: number;
  signal: AbortController;
  /** Equal for requests whose prompts begin with the same text; sent to endpoints with prefix-aware routing. */
  affinity?: string | undefined;
  /** The route's names for a chat completion's fields. */
  names?: FieldNames | undefined;
  /** Called when the container has accepted the request and the head of its reply has arrived. */
  onHead?: () => void;
}

/**
 * The chunks of an answer, one batch per payload part. The invocation starts with the first `next`, which throws the
 * errors of `toUpstreamError`; only one call may be pending at a time. `return` stops the container, unless the
 * answer is complete. An async generator is one, too.
 */
export type AnswerBatches = AsyncIterable<UpstreamChunk[]> & Required<Pick<AsyncIterator<UpstreamChunk[]>, 'next' | 'return'>>;

export type Invoke = (invocation: Invocation) => AnswerBatches;

/**
 * Sends an invocation, and sends it once more if its connection broke at once, before the reply.
 * @param send gets the time at which it was sent; a client that prepares an invocation first sets it anew
 */
export const sendInvocation = async <Reply>(
  { signal }: AbortController,
  send: (sent: { atMs: number }) => Promise<Reply>,
): Promise<Reply> => {
  const sent = { atMs: performance.now() };
  return send(sent).catch((error: unknown) => {
    if (!isBrokenConnection(error) || signal.aborted) throw error;
    if (performance.now() - sent.atMs > STALE_CONNECTION_MS) throw new BrokenAtWork(error);
    return send(sent);
  });
};

/** @param open sends an invocation and reads the head of its reply */
export const invokeWith = (open: (invocation: Invocation) => Promise<AnswerReader>): Invoke => {
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
