import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { drawTerminal, type Fragment } from '../draw-text.ts';

/** Commands as they were typed, and pieces of output as a terminal showed them, in the order of time. */
export const Recording = z.array(z.strictObject({ ms: z.int().nonnegative(), text: z.string().min(1), typed: z.literal(true).optional() }));
export type Recording = z.infer<typeof Recording>;

/** Written by record-terminal.ts. */
export const RECORDING = path.join(import.meta.dirname, 'recording.json');

const COLUMNS = 100;
// A reader doesn't wait as long as the one who recorded.
const MAX_PAUSE_MS = 1_200;

/**
 * Lays a recording out on a terminal: lines that are too long are continued on the next one.
 * @returns the pieces with their places and with the time at which they appear, without long pauses
 */
export const layOut = (recording: Recording): Fragment[] => {
  const fragments: Fragment[] = [];
  let [line, column, lastMs, atMs] = [0, 0, 0, 0];
  for (const { ms, text, typed } of recording) {
    atMs += Math.min(ms - lastMs, MAX_PAUSE_MS);
    lastMs = ms;
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) [line, column] = [line + 1, 0];
      let rest = [...part];
      while (rest.length > 0) {
        if (column === COLUMNS) [line, column] = [line + 1, 0];
        const piece = rest.slice(0, COLUMNS - column);
        if (piece.some((character) => character !== ' '))
          fragments.push({ line, column, text: piece.join(''), atMs, ...(typed && { typed }) });
        column += piece.length;
        rest = rest.slice(piece.length);
      }
    }
  }
  return fragments;
};

/** A local run's start, a streamed chat, and the timeline of its request. @returns an SVG document */
export const terminalPicture = (): string =>
  drawTerminal(
    'A local run: npm start, a chat, and the timeline of its request',
    layOut(Recording.parse(JSON.parse(readFileSync(RECORDING, 'utf8')))),
  );
