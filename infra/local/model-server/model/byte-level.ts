const PRINTABLE_RANGES = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;

const isPrintable = (byte: number) => PRINTABLE_RANGES.some(([from, to]) => byte >= from && byte <= to);

let nextCodePoint = 256;

/**
 * The character for each of the 256 bytes in a byte-level vocabulary:
 * https://github.com/openai/gpt-2/blob/master/src/encoder.py
 */
export const BYTE_CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(isPrintable(byte) ? byte : nextCodePoint++),
);

const BYTE_OF = new Map(BYTE_CHARACTERS.map((character, byte) => [character, byte]));

/** Returns the text with one vocabulary character per UTF-8 byte. */
export const toByteCharacters = (text: string): string[] =>
  Array.from(new TextEncoder().encode(text), (byte) => BYTE_CHARACTERS[byte] ?? '');

/** Returns the bytes of a vocabulary entry. */
export const fromByteCharacters = (entry: string): Uint8Array => Uint8Array.from(entry, (character) => BYTE_OF.get(character) ?? 0);
