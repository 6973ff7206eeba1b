import { Readable } from 'node:stream';
import { KEEP_ALIVE } from './server-sent-events.ts';

/** After this long without an event a comment is sent, so that no proxy closes the connection. */
const SILENCE_MS = 15_000;

/**
 * A reply's body from a source of whole events. Each event is one write; the next one is pulled from the source only when the stream has room.
 * When the caller disconnects, `onClosed` is called at once and the source is ended. `onEnd` is called last, however the stream ended, and awaited.
 */
export const replyStream = (source: AsyncGenerator<string>, onClosed: () => void, onEnd: () => Promise<void>): Readable => {
  let silence: NodeJS.Timeout | undefined;
  const watch = (): void => {
    silence = setTimeout(() => {
      stream.push(KEEP_ALIVE);
      watch();
    }, SILENCE_MS);
  };
  let isReading = false;
  const stream = new Readable({
    read() {
      // After a comment the stream calls read() again while the source still works on the next event.
      if (isReading) return;
      isReading = true;
      source.next().then(
        ({ value, done }) => {
          isReading = false;
          if (done) clearTimeout(silence);
          else silence?.refresh();
          stream.push(done ? null : value);
        },
        (error: Error) => stream.destroy(error),
      );
    },
    destroy(error, callback) {
      clearTimeout(silence);
      if (!stream.readableEnded) onClosed();
      source
        .return(undefined)
        .then(onEnd)
        .then(
          () => callback(error),
          (failure: Error) => callback(failure),
        );
    },
  });
  watch();
  return stream;
};
