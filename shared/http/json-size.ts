/** Deeper JSON than this is refused: nothing we take needs it, and recursive readers downstream have small stacks. */
export const MAX_DEPTH = 64;

/** Small values cost far more memory than text: more of them than this could not be held beside each other. */
export const MAX_VALUES = 250_000;

/** The keys of one object: to read and to copy one that is wider takes several times as long as narrow ones of the same size. */
export const MAX_WIDTH = 4_096;

/** What is known of a JSON text without parsing it. */
export interface JsonSize {
  depth: number;
  /** At most so many values and keys: a key that comes but once costs as much as a value. */
  values: number;
  /** The keys of its widest object. */
  width: number;
}

/** Measures a JSON text. */
export const measureJson = (text: string): JsonSize => {
  const widths = new Uint32Array(MAX_DEPTH + 1);
  let width = 0;
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (inString) {
      if (character === 0x5c) i++;
      else if (character === 0x22) inString = false;
    } else if (character === 0x22) inString = true;
    else if (character === 0x2c) values++;
    else if (character === 0x3a) {
      values++;
      const keys = (widths[depth] ?? 0) + 1;
      widths[depth] = keys;
      if (keys > width) width = keys;
    } else if (character === 0x7b || character === 0x5b) {
      values++;
      deepest = Math.max(deepest, ++depth);
      widths[depth] = 0;
    } else if (character === 0x7d || character === 0x5d) depth--;
  }
  return { depth: deepest, values, width };
};
