import { beginNumber, code, isWholeNumber, type NumberMode, nextNumberMode } from './json-number.ts';

const STRUCTURAL_MODES = ['start', 'first-key', 'key', 'colon', 'value', 'first-item', 'after-value', 'end'] as const;
type Mode = (typeof STRUCTURAL_MODES)[number] | 'string' | 'escape' | 'string-rest' | 'literal' | NumberMode;

interface Stack {
  kind: 'object' | 'array';
  below: Stack | null;
  depth: number;
}

/**
 * The state of a JSON text after some bytes. `inKey` is true in a string that is a key, `spaced` after a space.
 * `rest` has a range for each byte missing from a literal, an escape or a character.
 */
export interface JsonState {
  mode: Mode;
  stack: Stack | null;
  inKey: boolean;
  spaced: boolean;
  rest: readonly Range[];
}

type Range = readonly [from: number, to: number];

const MOST_NESTED = 16;

const exactly = (text: string): Range[] => Array.from(text, (character) => [code(character), code(character)] as const);
const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = ['"', '\\', ',', ':', ' '].map(code);
const [OBJECT, OBJECT_END, ARRAY, ARRAY_END] = ['{', '}', '[', ']'].map(code);
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [code(word), exactly(word.slice(1))]));
const ESCAPED = new Set(Array.from('"\\/bfnrt', code));
const UNICODE_ESCAPE = code('u');
const HEX_DIGITS = new Set(Array.from('0123456789abcdefABCDEF', code));
// No single range describes hex digits.
const HEX: Range = [-1, -1];
const CONTINUATION: Range = [0x80, 0xbf];

/** The state before the first byte of a JSON object. */
export const JSON_START: JsonState = { mode: 'start', stack: null, inKey: false, spaced: false, rest: [] };

/** True if the text is a complete JSON object. */
export const isJsonComplete = ({ mode }: JsonState): boolean => mode === 'end';

/**
 * Returns the state after one more byte; null if the byte is invalid there. Allows one space after a comma or a colon
 * and no other whitespace, so that a model can't generate whitespace forever. Allows 16 levels of nesting.
 */
export const nextJsonState = (state: JsonState, byte: number): JsonState | null => {
  const go = (mode: Mode): JsonState => ({ ...state, mode, spaced: false, rest: [] });
  switch (state.mode) {
    case 'start':
      return byte === OBJECT ? open(state, 'object') : null;
    case 'first-key':
      return byte === OBJECT_END ? close(state) : beginKey(state, byte);
    case 'key':
      return beginSpaced(state, byte) ?? beginKey(state, byte);
    case 'colon':
      return byte === COLON ? go('value') : null;
    case 'value':
      return beginSpaced(state, byte) ?? beginValue(state, byte);
    case 'first-item':
      return byte === ARRAY_END ? close(state) : beginValue(state, byte);
    case 'after-value':
      return afterValue(state, byte);
    case 'string':
      return inString(state, byte);
    case 'escape':
      if (byte === UNICODE_ESCAPE) return { ...state, mode: 'string-rest', rest: [HEX, HEX, HEX, HEX] };
      return ESCAPED.has(byte) ? go('string') : null;
    case 'string-rest':
      return takeRest(state, byte, 'string');
    case 'literal':
      return takeRest(state, byte, 'after-value');
    case 'end':
      return null;
    default:
      return inNumber(state, state.mode, byte);
  }
};

/** Returns the fewest bytes that complete the text. */
export const bytesToClose = ({ mode, stack, inKey, rest }: JsonState): number => {
  const inString = inKey ? ':0'.length : 0;
  const open = stack?.depth ?? 0;
  switch (mode) {
    case 'start':
      return '{}'.length;
    case 'key':
      return open + '"":0'.length;
    case 'colon':
      return open + ':0'.length;
    case 'string':
    case 'string-rest':
      return open + rest.length + 1 + inString;
    case 'escape':
      return open + 2 + inString;
    case 'literal':
      return open + rest.length;
    case 'value':
    case 'minus':
    case 'point':
    case 'exponent':
    case 'exponent-sign':
      return open + 1;
    default:
      return open;
  }
};

/** True if the text ends inside a string, a number or a literal. */
export const isInScalar = ({ mode }: JsonState): boolean => !STRUCTURAL_MODES.some((structural) => structural === mode);

const open = (state: JsonState, kind: Stack['kind']): JsonState | null => {
  const depth = (state.stack?.depth ?? 0) + 1;
  if (depth > MOST_NESTED) return null;
  const stack = { kind, below: state.stack, depth };
  return { ...state, mode: kind === 'object' ? 'first-key' : 'first-item', stack, spaced: false };
};

const close = (state: JsonState): JsonState => {
  const stack = state.stack?.below ?? null;
  return { ...state, mode: stack === null ? 'end' : 'after-value', stack, spaced: false };
};

const beginSpaced = (state: JsonState, byte: number): JsonState | null =>
  byte === SPACE && !state.spaced ? { ...state, spaced: true } : null;

const beginKey = (state: JsonState, byte: number): JsonState | null =>
  byte === QUOTE ? { ...state, mode: 'string', inKey: true, spaced: false } : null;

const beginValue = (state: JsonState, byte: number): JsonState | null => {
  const begun = { ...state, spaced: false };
  if (byte === QUOTE) return { ...begun, mode: 'string', inKey: false };
  if (byte === OBJECT) return open(state, 'object');
  if (byte === ARRAY) return open(state, 'array');
  const number = beginNumber(byte);
  if (number) return { ...begun, mode: number };
  const rest = LITERALS.get(byte);
  return rest ? { ...begun, mode: 'literal', rest } : null;
};

const afterValue = (state: JsonState, byte: number): JsonState | null => {
  const inObject = state.stack?.kind === 'object';
  if (byte === COMMA) return { ...state, mode: inObject ? 'key' : 'value', spaced: false };
  return byte === (inObject ? OBJECT_END : ARRAY_END) ? close(state) : null;
};

const inString = (state: JsonState, byte: number): JsonState | null => {
  if (byte === QUOTE) return { ...state, mode: state.inKey ? 'colon' : 'after-value', inKey: false };
  if (byte === BACKSLASH) return { ...state, mode: 'escape' };
  if (byte < 0x20) return null;
  if (byte < 0x80) return state;
  const rest = continuationOf(byte);
  return rest && { ...state, mode: 'string-rest', rest };
};

// Bytes after a character's first byte (Unicode Standard, table 3-7).
const continuationOf = (byte: number): Range[] | null => {
  if (byte >= 0xc2 && byte <= 0xdf) return [CONTINUATION];
  if (byte === 0xe0) return [[0xa0, 0xbf], CONTINUATION];
  if (byte === 0xed) return [[0x80, 0x9f], CONTINUATION];
  if (byte >= 0xe1 && byte <= 0xef) return [CONTINUATION, CONTINUATION];
  if (byte === 0xf0) return [[0x90, 0xbf], CONTINUATION, CONTINUATION];
  if (byte === 0xf4) return [[0x80, 0x8f], CONTINUATION, CONTINUATION];
  return byte >= 0xf1 && byte <= 0xf3 ? [CONTINUATION, CONTINUATION, CONTINUATION] : null;
};

const takeRest = (state: JsonState, byte: number, after: Mode): JsonState | null => {
  const [range, ...rest] = state.rest;
  if (range === undefined) return null;
  const fits = range === HEX ? HEX_DIGITS.has(byte) : byte >= range[0] && byte <= range[1];
  return fits ? { ...state, mode: rest.length > 0 ? state.mode : after, rest } : null;
};

const inNumber = (state: JsonState, mode: NumberMode, byte: number): JsonState | null => {
  const next = nextNumberMode(mode, byte);
  if (next !== null) return next === mode ? state : { ...state, mode: next };
  return isWholeNumber(mode) ? afterValue(state, byte) : null;
};
