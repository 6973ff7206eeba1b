import { setImmediate as immediately } from 'node:timers/promises';
import type { ResponseStream } from '@aws-sdk/client-sagemaker-runtime';
import { DamagedReply } from '../aws/errors.ts';
import { fromSdk } from '../aws/sdk-errors.ts';
import type { UpstreamChunk } from './chunk.ts';
import { isBrokenConnection } from './errors.ts';
import type { AnswerReader } from './read-answer.ts';
import { createStreamReader } from './read-stream.ts';

// Reading stops while this much of the answer waits for the caller.
const MAX_WAITING_BYTES = 64 * 1024;
// After its terminator a stream is read to the end, so that the connection can be reused, but for no longer than this.
const DRAIN_MS = 1_000;

const nobody = (): void => undefined;

// Errors that are neither AWS's nor the network's are about the bytes of the stream.
const toOurs = (thrown: unknown): unknown => {
  const error = fromSdk(thrown);
  return error === thrown && !isBrokenConnection(thrown) ? new DamagedReply((thrown as Error).message) : error;
};

/**
 * Reads the stream of an invocation that the AWS SDK made.
 * @param choices the number of choices that must finish
 * @param stop ends the invocation; called if the stream does not end after its terminator, and if it is damaged
 */
export const createSdkAnswerReader = (stream: AsyncIterable<ResponseStream>, choices: number, stop: () => void): AnswerReader => {
  const reader = createStreamReader(choices);
  let waiting: UpstreamChunk[] = [];
  let waitingBytes = 0;
  let failure: unknown;
  let hasEnded = false;
  let isFinished = false;
  let isClosed = false;
  let wake = nobody;
  let makeRoom = nobody;
  let drain: NodeJS.Timeout | undefined;

  const take = (payload: Uint8Array): void => {
    if (reader.isDone() || failure !== undefined) return;
    try {
      for (const chunk of reader.push(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength))) waiting.push(chunk);
      failure = reader.failure();
    } catch (error) {
      failure = error;
    }
    waitingBytes += payload.byteLength;
    if (reader.isDone()) drain ??= setTimeout(stop, DRAIN_MS);
    if (waiting.length > 0 || failure !== undefined) wake();
  };
  /** Reads ahead, so that all chunks that arrive together are one batch. */
  const read = async (): Promise<void> => {
    for await (const { PayloadPart, ModelStreamError, InternalStreamFailure } of stream) {
      const error = ModelStreamError ?? InternalStreamFailure;
      if (error) throw error;
      if (PayloadPart?.Bytes) take(PayloadPart.Bytes);
      // An event can be larger than this; its rest must arrive, or the caller would wait for it forever.
      if (waiting.length > 0 && waitingBytes > MAX_WAITING_BYTES && !isClosed) await new Promise<void>((resolve) => (makeRoom = resolve));
      if (isClosed) return;
    }
  };
  const end = (error?: unknown): void => {
    failure ??= error;
    hasEnded = true;
    wake();
  };
  read().then(
    () => end(),
    (error: unknown) => end(toOurs(error)),
  );

  /** Checks that the answer is complete. After its terminator it is, however the connection ended. */
  const finish = (): UpstreamChunk[] => {
    if (failure !== undefined && !(reader.isDone() && !reader.failure())) throw failure;
    const last = reader.end();
    failure = reader.failure();
    return last;
  };

  return {
    next: async () => {
      while (waiting.length === 0 && failure === undefined && !hasEnded) {
        await new Promise<void>((resolve) => (wake = resolve));
        await immediately();
      }
      if (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        waitingBytes = 0;
        makeRoom();
        return batch;
      }
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
      isClosed = true;
      clearTimeout(drain);
      makeRoom();
    },
  };
};
