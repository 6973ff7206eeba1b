interface AnswerText {
  /**
   * Adds one token's bytes. Returns the text to show now and the stop string found. It finds none if `mayStop` is
   * false.
   */
  push(bytes: Uint8Array, mayStop?: boolean): { text: string; stop: string | null };
  /**
   * Returns the text held back as a possible start of a stop string. Call it when the answer ends for another reason.
   */
  flush(): string;
}

/**
 * Turns token bytes into text that ends at the first of the stop strings (none of them empty). It holds back
 * incomplete characters, and text that may be the start of a stop string. With `showStop`, the text includes the stop
 * string.
 */
export const createAnswerText = (stops: readonly string[], showStop = false): AnswerText => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let held = '';
  return {
    push(bytes, mayStop = true) {
      held += decoder.decode(bytes, { stream: true });
      const active = mayStop ? stops : [];
      const found = firstStop(held, active);
      const end = found ? found.at + (showStop ? found.stop.length : 0) : held.length - heldLength(held, active);
      const text = held.slice(0, end);
      held = found ? '' : held.slice(end);
      return { text, stop: found?.stop ?? null };
    },
    flush() {
      const text = held;
      held = '';
      return text;
    },
  };
};

// The stop string that begins first in the text; if two begin at the same place, the first in the list.
const firstStop = (text: string, stops: readonly string[]): { at: number; stop: string } | null => {
  let first: { at: number; stop: string } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (first === null || at < first.at)) first = { at, stop };
  }
  return first;
};

// The length of the longest suffix of the text that is a prefix of a stop string.
const heldLength = (text: string, stops: readonly string[]): number => {
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (stops.some((stop) => stop.startsWith(end))) return length;
  }
  return 0;
};
