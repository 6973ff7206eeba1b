/** The part of a number that its last byte belongs to. */
export type NumberMode = 'minus' | 'zero' | 'digits' | 'point' | 'fraction' | 'exponent' | 'exponent-sign' | 'exponent-digits';

/** Returns the character code of a one-character string. */
export const code = (character: string): number => character.charCodeAt(0);
const [PLUS, MINUS, POINT] = ['+', '-', '.'].map(code);
const ZERO = code('0');
const NINE = code('9');
const EXPONENT = new Set(Array.from('eE', code));
const WHOLE: ReadonlySet<NumberMode> = new Set(['zero', 'digits', 'fraction', 'exponent-digits']);

/** True if the number can end here. */
export const isWholeNumber = (mode: NumberMode): boolean => WHOLE.has(mode);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

const integerMode = (byte: number): NumberMode | null => (isDigit(byte) ? (byte === ZERO ? 'zero' : 'digits') : null);

/** Returns the mode after a value's first byte; null if no number begins with it. */
export const beginNumber = (byte: number): NumberMode | null => (byte === MINUS ? 'minus' : integerMode(byte));

/** Returns the mode after one more byte; null if the byte doesn't belong to the number. */
export const nextNumberMode = (mode: NumberMode, byte: number): NumberMode | null => {
  const digit = isDigit(byte);
  switch (mode) {
    case 'minus':
      return integerMode(byte);
    case 'zero':
      return afterInteger(byte);
    case 'digits':
      return digit ? 'digits' : afterInteger(byte);
    case 'point':
      return digit ? 'fraction' : null;
    case 'fraction':
      if (EXPONENT.has(byte)) return 'exponent';
      return digit ? 'fraction' : null;
    case 'exponent':
      if (byte === PLUS || byte === MINUS) return 'exponent-sign';
      return digit ? 'exponent-digits' : null;
    case 'exponent-sign':
    case 'exponent-digits':
      return digit ? 'exponent-digits' : null;
  }
};

const afterInteger = (byte: number): NumberMode | null => {
  if (byte === POINT) return 'point';
  return EXPONENT.has(byte) ? 'exponent' : null;
};
