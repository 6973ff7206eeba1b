import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// Bytes from this value on are discarded; otherwise the first characters of the alphabet would be more likely.
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

// Random bytes are generated for many ids at once, as `randomUUID` does: a call takes as long for all of these as for
// one id. Each is used once.
const pool = Buffer.alloc(1_024);
let used = pool.length;

const randomByte = (): number => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used] as number;
  pool[used] = 0;
  used++;
  return byte;
};

/** `length` characters of 0-9A-Za-z, uniformly random: 5.95 bits each. */
export const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    if (byte < FAIR_BYTES) text += ALPHABET[byte % ALPHABET.length];
  }
  return text;
};

/** A non-negative integer below 62^`length`, in exactly `length` base62 digits. */
export const toBase62 = (value: number, length: number): string => {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / ALPHABET.length)) text = ALPHABET[rest % ALPHABET.length] + text;
  return text;
};

/** Parses base62 digits; at most nine, because a double is not exact beyond that. */
export const fromBase62 = (digits: string): number => {
  let value = 0;
  for (const digit of digits) value = value * ALPHABET.length + ALPHABET.indexOf(digit);
  return value;
};

/** The first `length` base62 characters of a hash: one for each byte. */
export const base62Of = (hash: Uint8Array, length: number): string =>
  Array.from(hash.subarray(0, length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
