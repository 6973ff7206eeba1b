import type { TokenizerParts } from './tokenizer-parts.ts';

/**
 * Decodes token ids, all of them known to the tokenizer, to text. Added tokens are spelled out, bytes that are not
 * UTF-8 become U+FFFD, and spaces are not cleaned up, so that a byte-level tokenizer returns the text that it
 * encoded.
 */
export type DecodeTokens = (ids: readonly number[]) => string;

// Byte-level tokens spell bytes as letters; added tokens are plain text. The library is slower: it searches all added
// tokens for each token.
const createDecodeBytes = (tokenizer: TokenizerParts, byteOfLetter: Record<string, number>): DecodeTokens => {
  const { vocab } = tokenizer.model;
  const added = new Set([...tokenizer.get_added_tokens_decoder().values()].map(({ content }) => content));
  const bytes = new Uint8Array(2 ** 16);
  for (const [letter, byte] of Object.entries(byteOfLetter)) bytes[letter.charCodeAt(0)] = byte;
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
  const textOf = (letters: string): string => utf8.decode(Uint8Array.from(letters, (letter) => bytes[letter.charCodeAt(0)] ?? 0));

  return (ids) => {
    let text = '';
    let letters = '';
    for (const id of ids) {
      const token = vocab[id] ?? '';
      if (added.has(token)) {
        text += textOf(letters) + token;
        letters = '';
      } else letters += token;
    }
    return text + textOf(letters);
  };
};

export const createDecodeTokens = (tokenizer: TokenizerParts): DecodeTokens => {
  const byteOfLetter = tokenizer.decoder?.byte_decoder;
  if (byteOfLetter) return createDecodeBytes(tokenizer, byteOfLetter);
  const asTheyAre = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
  return (ids) => (ids.length === 0 ? '' : tokenizer.decode(ids, asTheyAre));
};
