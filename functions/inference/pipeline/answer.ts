import { errorToTell } from '../../../shared/http/error-replies.ts';
import { toWire } from '../../../shared/http/errors.ts';
import type { UpstreamChunk } from '../../../shared/upstream/chunk.ts';
import type { Flight } from './in-flight-request.ts';
import type { StreamedReply, WholeReply } from './inference-route.ts';
import { sseEvent } from './server-sent-events.ts';

/** The status waits for the model's first word, so that its errors keep theirs, but no longer than this. */
const FIRST_WORD_MS = 60_000;

/** An answer on its way: its batches of chunks, the first of which has been asked for. */
export interface Answer {
  first: Promise<IteratorResult<UpstreamChunk[]>>;
  rest: AsyncGenerator<UpstreamChunk[]>;
}

/** Waits for the model's first word, so that a failure before it is still a status of its own. */
export const firstWord = async ({ first }: Answer, flight: Flight): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([first, new Promise((resolve) => (timer = setTimeout(resolve, FIRST_WORD_MS)))]);
  } catch (error) {
    throw await flight.fail(error);
  } finally {
    clearTimeout(timer);
  }
};

/** The answer as server-sent events. `[DONE]` leaves after the request is settled; a failure is an error event, then the end. */
export async function* streamed(reply: StreamedReply, { first, rest }: Answer, flight: Flight): AsyncGenerator<string> {
  try {
    for (let batch = await first; !batch.done; batch = await rest.next()) {
      flight.seen.see(batch.value);
      const events = reply.take(batch.value);
      if (events) yield events;
    }
    await flight.answered();
    const used = flight.seen.usage();
    await flight.land('completed');
    const usage = reply.usage(used);
    await reply.keep?.(used);
    yield usage + reply.end();
  } catch (error) {
    const told = errorToTell(await flight.fail(error), flight.event);
    const { requestId } = flight.event;
    yield reply.fail?.(told, requestId) ?? sseEvent(toWire(told, requestId));
  }
}

/** The answer as one object; it leaves after the request is settled. */
export const gathered = async (reply: WholeReply, { first, rest }: Answer, flight: Flight): Promise<Record<string, unknown>> => {
  try {
    for (let batch = await first; !batch.done; batch = await rest.next()) {
      flight.seen.see(batch.value);
      reply.take(batch.value);
    }
    await flight.answered();
  } catch (error) {
    throw await flight.fail(error);
  }
  await flight.land('completed');
  await reply.keep?.(flight.seen.usage());
  return reply.whole(flight.seen.usage());
};
