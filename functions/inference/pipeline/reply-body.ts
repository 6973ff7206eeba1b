import type { Writable } from 'node:stream';
import { endReply, type WrittenBody } from '../../../shared/middleware/written-replies.ts';
import { KEEP_ALIVE } from './server-sent-events.ts';

// After this long without an event `keepAlive` is sent, so that no proxy closes the connection.
const SILENCE_MS = 15_000;

/**
 * The body of a streamed reply. It must be written or destroyed. `writeTo` resolves when the request is settled and the
 * stream has ended.
 */
export interface ReplyBody extends WrittenBody {
  /** Closes the connection of a caller that does not read. */
  destroy(): void;
}

/**
 * A body from a source of whole events. Each event is one write; the next one is pulled from the source only when the
 * caller has room for it. When the caller disconnects, `onClosed` is called at once and the source is ended. `onEnd` is
 * called last, however the stream ended, and awaited. `keepAlive` is sent while there is no event.
 */
export const replyBody = (
  source: AsyncGenerator<string>,
  onClosed: () => void,
  onEnd: () => Promise<void>,
  keepAlive = KEEP_ALIVE,
): ReplyBody => {
  let destroy = (): void => undefined;
  const writeTo = async (caller: Writable): Promise<void> => {
    let hasEnded = false;
    let isClosed = false;
    let wake = (): void => undefined;
    const close = (): void => {
      if (isClosed) return;
      isClosed = true;
      if (!hasEnded) onClosed();
      wake();
    };
    // The stream is destroyed before it emits `close`.
    const isOver = (): boolean => {
      if (caller.destroyed) close();
      return isClosed;
    };
    destroy = () => void caller.destroy();
    caller.once('close', close);
    // Emitted by a write after the caller has disconnected.
    caller.once('error', close);
    caller.on('drain', () => wake());
    const silence = setInterval(() => void caller.write(keepAlive), SILENCE_MS);
    const until = (isMet: () => boolean): Promise<void> | undefined =>
      isMet() || isOver() ? undefined : new Promise((resolve) => (wake = resolve));
    try {
      while (!isOver()) {
        const { value, done } = await source.next();
        if (done || isOver()) break;
        silence.refresh();
        if (!caller.write(value)) await until(() => !caller.writableNeedDrain);
      }
      hasEnded = !isOver();
    } catch (error) {
      caller.destroy();
      throw error;
    } finally {
      clearInterval(silence);
      await source.return(undefined);
      await onEnd();
      if (!isOver()) {
        caller.once('finish', () => wake());
        caller.end();
        await until(() => caller.writableFinished);
      }
    }
  };
  return { writeTo, destroy: () => destroy() };
};

/** Does more after the last byte of a reply was written. @param work never throws */
export const afterReply = (body: string | ReplyBody, work: () => Promise<void>): ReplyBody =>
  typeof body === 'string'
    ? {
        writeTo: async (caller) => {
          await endReply(caller, body);
          await work();
        },
        destroy: () => undefined,
      }
    : {
        ...body,
        writeTo: async (caller) => {
          try {
            await body.writeTo(caller);
          } finally {
            await work();
          }
        },
      };
