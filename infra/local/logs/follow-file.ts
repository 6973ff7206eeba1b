import { statSync } from 'node:fs';
import { open } from 'node:fs/promises';

const MAX_READ_BYTES = 1_048_576;
const LINE_FEED = 10;

/** Reads what is appended to a file. */
export interface FileFollower {
  /**
   * The complete lines since the last call, at most about 1 MB, each with the position where it ends. A file that
   * does not exist has none.
   */
  read(): Promise<{ text: string; end: number }[]>;
}

/** Follows a file from its present end on; from its beginning if it is replaced by a shorter one. */
export const followFile = (file: string): FileFollower => {
  const sizeNow = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let position = sizeNow();
  return {
    async read() {
      const size = sizeNow();
      if (size < position) position = 0;
      if (size === position) return [];
      await using handle = await open(file);
      const buffer = Buffer.alloc(Math.min(MAX_READ_BYTES, size - position));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
      const lines = [];
      let start = 0;
      for (let end = buffer.indexOf(LINE_FEED); end !== -1 && end < bytesRead; end = buffer.indexOf(LINE_FEED, start)) {
        lines.push({ text: buffer.toString('utf8', start, end), end: position + end + 1 });
        start = end + 1;
      }
      // A line that doesn't fit is skipped piece by piece.
      position += start === 0 && bytesRead === MAX_READ_BYTES ? bytesRead : start;
      return lines;
    },
  };
};
