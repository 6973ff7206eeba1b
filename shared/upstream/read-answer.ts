import { CallTimeout } from '../aws/errors.ts';
import { createEventStreamReader } from '../aws/event-stream.ts';
import type { IncomingBody } from '../aws/exchange.ts';
import type { UpstreamChunk } from './chunk.ts';
import { createStreamReader } from './read-stream.ts';

// A connection without data for longer than this is considered lost.
const SILENCE_MS = 300_000;
// Reading stops while this much of the answer waits for the caller.
const MAX_WAITING_BYTES = 64 * 1024;
// After its terminator a stream is read to the end, so that the connection can be reused, but for no longer than this.
const DRAIN_MS = 1_000;

const awake = (): void => undefined;

/** The chunks of a streamed invocation. */
export interface AnswerReader {
  /**
   * All chunks that have arrived since the last call, so that they can be sent in one write; undefined at the end of
   * a complete answer.
   * @throws UpstreamFailed for an answer that failed or is incomplete; AwsError, DamagedReply or a network error
   * otherwise
   */
  next(): Promise<UpstreamChunk[] | undefined>;
  /** Stops the timers. Must be called at the end, however it came about. */
  close(): void;
}

/**
 * Reads a streamed invocation.
 * @param choices the number of choices that must finish
 * @param stop ends the invocation; called if the stream does not end after its terminator
 */
export const createAnswerReader = (reply: IncomingBody, choices: number, stop: () => void): AnswerReader => {
  const reader = createStreamReader(choices);
  let waiting: UpstreamChunk[] = [];
  let waitingBytes = 0;
  let failure: unknown;
  let hasEnded = false;
  let isFinished = false;
  let wake: () => void = awake;
  let drain: NodeJS.Timeout | undefined;

  const events = createEventStreamReader((payload) => {
    if (reader.isDone() || reader.failure()) return;
    for (const chunk of reader.push(payload)) waiting.push(chunk);
  });
  /** Until `wake` is called. Each part calls it, but to resolve a promise again takes a call into V8's runtime. */
  const sleep = (resolve: () => void): void => {
    wake = () => {
      wake = awake;
      resolve();
    };
  };
  const end = (error?: unknown): void => {
    hasEnded = true;
    failure ??= error;
    wake();
  };
  const silence = setTimeout(() => reply.destroy(new CallTimeout(`The model sent nothing for ${SILENCE_MS / 1_000} s.`)), SILENCE_MS);

  const receive = (part: Buffer): void => {
    silence.refresh();
    try {
      events.push(part);
      failure ??= reader.failure();
    } catch (error) {
      failure ??= error;
      // The rest can't be read, and a damaged connection must not be reused.
      reply.destroy();
    }
    if (reader.isDone()) drain ??= setTimeout(stop, DRAIN_MS);
    waitingBytes += part.length;
    // An event can be larger than this; its rest must arrive, or the caller would wait for it forever.
    if (waiting.length > 0 && waitingBytes > MAX_WAITING_BYTES) reply.pause();
    if (waiting.length > 0 || failure !== undefined) wake();
  };
  reply.read(receive, end);

  const take = (): UpstreamChunk[] => {
    const batch = waiting;
    waiting = [];
    waitingBytes = 0;
    reply.resume();
    return batch;
  };

  /** Checks that the answer is complete. After its terminator it is, however the connection ended. */
  const finish = (): UpstreamChunk[] => {
    if (failure !== undefined && !(reader.isDone() && !reader.failure())) throw failure;
    if (!reader.isDone()) events.end();
    const last = reader.end();
    failure = reader.failure();
    return last;
  };

  return {
    next: async () => {
      while (waiting.length === 0 && failure === undefined && !hasEnded) await new Promise<void>(sleep);
      if (waiting.length > 0) return take();
      if (isFinished) {
        if (failure !== undefined) throw failure;
        return undefined;
      }
      const last = finish();
      isFinished = true;
      if (last.length > 0) return last;
      if (failure !== undefined) throw failure;
      return undefined;
    },
    close: () => {
      clearTimeout(silence);
      clearTimeout(drain);
    },
  };
};
