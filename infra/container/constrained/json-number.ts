/** Where a number stands; `zero`, `digits`, `fraction` and `exponent-digits` may be its end. */
export type NumberMode = 'minus' | 'zero' | 'digits' | 'point' | 'fraction' | 'exponent' | 'exponent-sign' | 'exponent-digits';

const code = (character: string): number => character.charCodeAt(0);
const PLUS = code('+');
const MINUS = code('-');
const POINT = code('.');
const ZERO = code('0');
const NINE = code('9');
const EXPONENT = new Set(Array.from('eE', code));
const WHOLE: ReadonlySet<NumberMode> = new Set(['zero', 'digits', 'fraction', 'exponent-digits']);

export const isWholeNumber = (mode: NumberMode): boolean => WHOLE.has(mode);

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

const integerMode = (byte: number): NumberMode | null => (isDigit(byte) ? (byte === ZERO ? 'zero' : 'digits') : null);

/** The first byte of a value in; null if it begins no number. */
export const beginNumber = (byte: number): NumberMode | null => (byte === MINUS ? 'minus' : integerMode(byte));

/** A further byte in; null if it does not belong to the number. */
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
