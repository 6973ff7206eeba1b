import { Tokenizer } from '@huggingface/tokenizers';

/** A stage that cuts texts into words, or spells words in another way. */
export interface PreTokenizer {
  pre_tokenize(texts: string[], options?: { section_index: number }): string[];
  /** The stages of a sequence. */
  tokenizers?: (PreTokenizer | null)[];
  /** Only the byte-level stage has these. */
  byte_encoder?: unknown;
  use_regex?: boolean;
  add_prefix_space?: boolean;
}

export interface Model {
  /** Words to tokens. */
  encode(words: string[]): string[];
  vocab: string[];
  fuse_unk: boolean;
  /** Only byte-pair encoding has these. */
  merges?: unknown[];
  byte_fallback?: boolean;
}

/** The parts of Hugging Face's tokenizer that counting needs. The package's own declarations do not resolve for an ES module. */
export interface TokenizerParts {
  normalizer: ((text: string) => string) | null;
  pre_tokenizer: PreTokenizer | null;
  model: Model;
  get_added_tokens_decoder(): Map<number, { content: string; lstrip: boolean; rstrip: boolean; normalized: boolean }>;
}

/** The parts of a `tokenizer.json`. Throws an Error when it is none. */
export const createParts = (json: object): TokenizerParts => new Tokenizer(json, {}) as unknown as TokenizerParts;
