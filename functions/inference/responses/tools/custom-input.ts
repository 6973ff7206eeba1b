const BEGINNING = /^\s*\{\s*"input"\s*:\s*"/;
// As far as a text that could still get the beginning goes.
const PARTIAL = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

const isHighSurrogate = (character: string): boolean => character >= '\uD800' && character <= '\uDBFF';

// One character of a JSON string, and where the next one begins; undefined if it is not complete.
const decodeAt = (text: string, at: number): { character: string; next: number } | undefined => {
  const character = text[at] as string;
  if (character !== '\\') return { character, next: at + 1 };
  const escaped = text[at + 1];
  if (escaped === undefined) return undefined;
  if (escaped !== 'u') return { character: ESCAPES[escaped] ?? escaped, next: at + 2 };
  const code = text.slice(at + 2, at + 6);
  if (code.length < 4 && /^[0-9a-f]*$/i.test(code)) return undefined;
  return /^[0-9a-f]{4}$/i.test(code)
    ? { character: String.fromCharCode(Number.parseInt(code, 16)), next: at + 6 }
    : { character: '\\u', next: at + 2 };
};

// Models write the text by itself, or other fields before it.
const wholeInput = (text: string): string => {
  try {
    const { input } = JSON.parse(text) as { input?: unknown };
    return typeof input === 'string' ? input : text;
  } catch {
    return text;
  }
};

/**
 * Reads the input of a custom tool from the arguments of its function, `{"input":"…"}`, while a runtime writes them.
 * `take` returns the text that became known, `end` the rest. Arguments of another form are the input themselves.
 */
export const createCustomInput = () => {
  let held = '';
  let state: 'before' | 'within' | 'after' | 'other' = 'before';

  const read = (): string => {
    let text = '';
    let at = 0;
    while (at < held.length) {
      if (held[at] === '"') {
        state = 'after';
        break;
      }
      const first = decodeAt(held, at);
      if (!first) break;
      if (isHighSurrogate(first.character)) {
        // Both halves of a character belong to one delta.
        const second = first.next < held.length ? decodeAt(held, first.next) : undefined;
        if (!second && held[first.next] !== '"') break;
      }
      text += first.character;
      at = first.next;
    }
    held = state === 'after' ? '' : held.slice(at);
    // Half of a pair alone can't be read by clients in other languages.
    return text.toWellFormed();
  };

  return {
    take: (part: string): string => {
      if (state === 'after') return '';
      held += part;
      if (state === 'before') {
        const beginning = BEGINNING.exec(held);
        if (beginning) {
          state = 'within';
          held = held.slice(beginning[0].length);
        } else if (!PARTIAL.test(held)) state = 'other';
      }
      return state === 'within' ? read() : '';
    },
    end: (): string => (state === 'before' || state === 'other' ? wholeInput(held) : ''),
  };
};
