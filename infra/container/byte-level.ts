const PRINTABLE_RANGES = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;

const isPrintable = (byte: number) => PRINTABLE_RANGES.some(([from, to]) => byte >= from && byte <= to);

let spare = 256;

/** The character that stands for each byte in a byte-level vocabulary, 256 entries (GPT-2's table: https://github.com/openai/gpt-2/blob/master/src/encoder.py). */
export const BYTE_CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(isPrintable(byte) ? byte : spare++),
);

const BYTE_OF = new Map(BYTE_CHARACTERS.map((character, byte) => [character, byte]));

/** Text in, the same text written one character a UTF-8 byte out. */
export const toByteCharacters = (text: string): string[] =>
  Array.from(new TextEncoder().encode(text), (byte) => BYTE_CHARACTERS[byte] ?? '');

/** A vocabulary entry in, the bytes it stands for out. */
export const fromByteCharacters = (entry: string): Uint8Array => Uint8Array.from(entry, (character) => BYTE_OF.get(character) ?? 0);
