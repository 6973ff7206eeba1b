import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from here on are thrown away, or the first letters of the alphabet would be likelier than the last. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** `length` characters of 0-9A-Za-z, uniformly random: 5.95 bits each. */
export const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) if (byte < FAIR_BYTES && text.length < length) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
};

/** A non-negative integer below 62^`length`, in exactly `length` base62 digits. */
export const toBase62 = (value: number, length: number): string => {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / ALPHABET.length)) text = ALPHABET[rest % ALPHABET.length] + text;
  return text;
};

/** The integer that base62 digits stand for; at most nine of them, beyond which a double is not exact. */
export const fromBase62 = (digits: string): number => {
  let value = 0;
  for (const digit of digits) value = value * ALPHABET.length + ALPHABET.indexOf(digit);
  return value;
};
