interface AnswerText {
  /** The bytes of one token in, what they make showable out; nothing ends the answer in a token that may not stop it. */
  push(bytes: Uint8Array, mayStop?: boolean): { text: string; stop: string | null };
  /** What was held back in case a stop string began there; for an answer that ended otherwise. */
  flush(): string;
}

/**
 * Turns token bytes into text. A character is held back until its last byte is there, and text until it cannot be
 * the beginning of a stop string any more, so that no part of one is ever shown, but for the whole of it if asked. Stop strings
 * in; they must not be empty.
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

/** The stop string that begins first; of two that begin together, the one that was named first. */
const firstStop = (text: string, stops: readonly string[]): { at: number; stop: string } | null => {
  let first: { at: number; stop: string } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (first === null || at < first.at)) first = { at, stop };
  }
  return first;
};

/** The length of the longest end of the text that begins a stop string. */
const heldLength = (text: string, stops: readonly string[]): number => {
  const longest = Math.max(0, ...stops.map((stop) => stop.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(-length);
    if (stops.some((stop) => stop.startsWith(end))) return length;
  }
  return 0;
};
