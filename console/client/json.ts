/**
 * Parses JSON. Integers that a `number` can't hold become texts of their digits, because sums of tokens can exceed
 * 2^53. @throws SyntaxError
 */
export const parseJson = (text: string): unknown => JSON.parse(text, keepDigits);

const keepDigits = (_key: string, value: unknown, { source }: { source?: string } = {}): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source) ? source : value;
