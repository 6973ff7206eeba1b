import { Tokenizer } from '@huggingface/tokenizers';

/** A stage that splits texts into words, or respells words. */
export interface PreTokenizer {
  pre_tokenize(texts: string[], options?: { section_index: number }): string[];
  /** The stages of a sequence. */
  tokenizers?: (PreTokenizer | null)[];
  /** Only the byte-level stage has these. */
  byte_encoder?: unknown;
  use_regex?: boolean;
  add_prefix_space?: boolean;
}

interface Model {
  /** Words to tokens. */
  encode(words: string[]): string[];
  /** Tokens by their ids, including added tokens; undefined for unused ids. */
  vocab: (string | undefined)[];
  tokens_to_ids: Map<string, number>;
  unk_token_id: number | undefined;
  fuse_unk: boolean;
  /** Only byte-pair encoding has these. */
  merges?: unknown[];
  byte_fallback?: boolean;
  /** Shorter words are cached, up to 10,000 of them. */
  max_length_to_cache?: number;
}

interface Decoder {
  /** Only the byte-level decoder has this: the byte that each letter stands for. */
  byte_decoder?: Record<string, number>;
}

/**
 * The parts of Hugging Face's tokenizer that we use. The package's own declarations do not resolve for an ES module.
 */
export interface TokenizerParts {
  normalizer: ((text: string) => string) | null;
  pre_tokenizer: PreTokenizer | null;
  model: Model;
  /** Puts special tokens around those of a text. */
  post_processor: ((tokens: string[], pair: null, addSpecialTokens: boolean) => { tokens: string[] }) | null;
  decoder: Decoder | null;
  decode(ids: readonly number[], options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean }): string;
  get_added_tokens_decoder(): Map<number, { content: string; lstrip: boolean; rstrip: boolean; normalized: boolean }>;
}

/** Parses a `tokenizer.json`. Throws an Error if it is invalid. */
export const createParts = (json: object): TokenizerParts => new Tokenizer(json, {}) as unknown as TokenizerParts;
