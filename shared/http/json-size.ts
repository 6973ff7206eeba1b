/** Deeper JSON than this is refused: nothing we take needs it, and recursive readers downstream have small stacks. */
export const MAX_DEPTH = 64;

/** How deep a JSON text nests, and at most how many values it holds, without parsing it. */
export const measureJson = (text: string): { depth: number; values: number } => {
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
    else if (character === 0x7b || character === 0x5b) {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (character === 0x7d || character === 0x5d) depth--;
  }
  return { depth: deepest, values };
};
