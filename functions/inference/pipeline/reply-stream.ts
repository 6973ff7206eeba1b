import { Readable } from 'node:stream';
import { KEEP_ALIVE } from './server-sent-events.ts';

/** After this long without an event a comment goes out, so that nothing between us and the caller closes the connection. */
const SILENCE_MS = 15_000;

/**
 * A reply's body from a source of whole events. Each event goes out in one write; the source is asked for the next only
 * when there is room. When the caller is known to be gone, `onClosed` is called at once and the source is brought to its
 * end; `onEnd` is called last, however the stream ended, and waited for.
 */
export const replyStream = (source: AsyncGenerator<string>, onClosed: () => void, onEnd: () => Promise<void>): Readable => {
  let silence: NodeJS.Timeout | undefined;
  const watch = (): void => {
    silence = setTimeout(() => {
      stream.push(KEEP_ALIVE);
      watch();
    }, SILENCE_MS);
  };
  let isAsked = false;
  const stream = new Readable({
    read() {
      // A comment between two events makes the stream ask again while the source is still at work.
      if (isAsked) return;
      isAsked = true;
      source.next().then(
        ({ value, done }) => {
          isAsked = false;
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
