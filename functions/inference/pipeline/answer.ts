import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { toWire } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { toCallerError } from '../../../shared/middleware/error-replies.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';
import type { RequestUsage } from './request-usage.ts';
import { sseEvent } from './server-sent-events.ts';
import type { Settlement } from './settlement.ts';

// The status of a stream is sent with the model's first chunk, so that earlier errors have their own status, but no
// later than this.
const FIRST_CHUNK_MS = 60_000;

/** A batch of chunks, or a comment while the request waits for capacity. */
export type AnswerPart = UpstreamChunk[] | string;

/** An answer in parts; the first one has been requested. */
export interface Answer {
  first: Promise<IteratorResult<AnswerPart>>;
  rest: Pick<AsyncIterator<AnswerPart>, 'next'>;
}

interface AnsweredRequest {
  event: ApiEvent;
  usage: RequestUsage;
  settlement: Settlement;
}

/** Waits for the first part, so that a failure before it becomes a reply with its own status. */
export const waitForFirstPart = async ({ first }: Answer, { fail }: Settlement): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([first, new Promise((resolve) => (timer = setTimeout(resolve, FIRST_CHUNK_MS)))]);
  } catch (error) {
    throw await fail(error);
  } finally {
    clearTimeout(timer);
  }
};

async function* endStream(reply: StreamedReply, { usage }: AnsweredRequest): AsyncGenerator<string> {
  const used = usage.total();
  const events = reply.usage(used);
  await reply.store?.(used);
  yield events + reply.end();
}

/**
 * The answer as server-sent events. `[DONE]` follows the settlement. At the deadline, an answer that has begun ends
 * with `length`; on failure, an error event ends it.
 */
export async function* streamAnswer(reply: StreamedReply, { first, rest }: Answer, request: AnsweredRequest): AsyncGenerator<string> {
  const { event, settlement } = request;
  try {
    for (let batch = await first; !batch.done; batch = await rest.next()) {
      if (typeof batch.value === 'string') {
        yield batch.value;
        continue;
      }
      settlement.count(batch.value);
      const events = reply.take(batch.value);
      if (events) yield events;
    }
    await settlement.complete();
    yield* endStream(reply, request);
  } catch (error) {
    const end = await settlement.cutOff();
    if (end) {
      const events = reply.take([end]);
      if (events) yield events;
      return yield* endStream(reply, request);
    }
    const failure = toCallerError(await settlement.fail(error), event);
    // The log line `refused` is only for failures before the status was sent.
    logInfo('stream_broken', { request_id: event.requestId, ...event.sender, status: failure.status, code: failure.code });
    yield reply.fail?.(failure, event.requestId) ?? sseEvent(toWire(failure, event.requestId));
  }
}

/**
 * The answer as one object, after the settlement. At the deadline, it has what was generated, and ends with `length`.
 */
export const collectAnswer = async (
  reply: WholeReply,
  { first, rest }: Answer,
  { usage, settlement }: AnsweredRequest,
): Promise<Record<string, unknown>> => {
  try {
    for (let batch = await first; !batch.done; batch = await rest.next()) {
      if (typeof batch.value === 'string') continue;
      settlement.count(batch.value);
      reply.take(batch.value);
    }
    await settlement.complete();
  } catch (error) {
    const end = await settlement.cutOff();
    if (!end) throw await settlement.fail(error);
    reply.take([end]);
  }
  const used = usage.total();
  await reply.store?.(used);
  return reply.whole(used);
};
