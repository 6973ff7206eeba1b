/** The deepest JSON that we accept: no request needs more, and recursive readers downstream have small stacks. */
export const MAX_DEPTH = 64;

/** The most values in a body: small values need far more memory than text, and more than these would not fit. */
export const MAX_VALUES = 250_000;

/** The most keys of one object: reading and copying a wider object takes several times as long as narrow ones of the same total size. */
export const MAX_WIDTH = 4_096;

/** The size of a JSON text, measured without parsing it. */
interface JsonSize {
  depth: number;
  /** An upper bound on values plus keys: a unique key costs as much memory as a value. */
  values: number;
  /** The keys of its widest object. */
  width: number;
}

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
