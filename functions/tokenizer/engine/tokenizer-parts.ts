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
  /** Tokens by their ids, added tokens too; ids that are none are not there. */
  vocab: (string | undefined)[];
  tokens_to_ids: Map<string, number>;
  unk_token_id: number | undefined;
  fuse_unk: boolean;
  /** Only byte-pair encoding has these. */
  merges?: unknown[];
  byte_fallback?: boolean;
  /** Shorter words are remembered, up to 10,000 of them. */
  max_length_to_cache?: number;
}

/** Tokens to text. */
export interface Decoder {
  /** Only the byte-level decoder has this: from a letter to the byte that it spells. */
  byte_decoder?: Record<string, number>;
}

/** The parts of Hugging Face's tokenizer that are used. The package's own declarations do not resolve for an ES module. */
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

/** The parts of a `tokenizer.json`. Throws an Error when it is none. */
export const createParts = (json: object): TokenizerParts => new Tokenizer(json, {}) as unknown as TokenizerParts;
