import { toCallerError } from '../../../shared/http/error-replies.ts';
import { toWire } from '../../../shared/http/errors.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import type { InFlightRequest } from './in-flight-request.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';
import { sseEvent } from './server-sent-events.ts';

/** The reply's status is sent after the model's first chunk, so that earlier errors have their own status, but no later than this. */
const FIRST_CHUNK_MS = 60_000;

/** An answer in batches of chunks; the first batch has been requested. */
interface Answer {
  first: Promise<IteratorResult<UpstreamChunk[]>>;
  rest: AsyncGenerator<UpstreamChunk[]>;
}

/** Waits for the first chunk, so that a failure before it becomes a reply with its own status. */
export const waitForFirstChunk = async ({ first }: Answer, inFlight: InFlightRequest): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([first, new Promise((resolve) => (timer = setTimeout(resolve, FIRST_CHUNK_MS)))]);
  } catch (error) {
    throw await inFlight.fail(error);
  } finally {
    clearTimeout(timer);
  }
};

/** The answer as server-sent events. Sends `[DONE]` after the settlement; on failure, sends an error event and ends. */
export async function* streamAnswer(reply: StreamedReply, { first, rest }: Answer, inFlight: InFlightRequest): AsyncGenerator<string> {
  try {
    for (let batch = await first; !batch.done; batch = await rest.next()) {
      inFlight.usage.count(batch.value);
      const events = reply.take(batch.value);
      if (events) yield events;
    }
    await inFlight.answered();
    const used = inFlight.usage.total();
    await inFlight.settle('completed');
    const usage = reply.usage(used);
    await reply.keep?.(used);
    yield usage + reply.end();
  } catch (error) {
    const { event } = inFlight;
    const failure = toCallerError(await inFlight.fail(error), event);
    yield reply.fail?.(failure, event.requestId) ?? sseEvent(toWire(failure, event.requestId));
  }
}

/** The answer as one object. Returned after the settlement. */
export const collectAnswer = async (
  reply: WholeReply,
  { first, rest }: Answer,
  inFlight: InFlightRequest,
): Promise<Record<string, unknown>> => {
  try {
    for (let batch = await first; !batch.done; batch = await rest.next()) {
      inFlight.usage.count(batch.value);
      reply.take(batch.value);
    }
    await inFlight.answered();
  } catch (error) {
    throw await inFlight.fail(error);
  }
  await inFlight.settle('completed');
  await reply.keep?.(inFlight.usage.total());
  return reply.whole(inFlight.usage.total());
};
