import { TextRefused } from '../../../shared/tokens/errors.ts';
import type { PreTokenizer, TokenizerParts } from './tokenizer-parts.ts';

// By the estimate below. Words longer than MAX_WORD_LENGTH are not cached.
const MAX_CACHED_BYTES = 15_000_000;
const MAX_WORD_LENGTH = 64;
// A map entry, a string and an array of numbers, without their contents.
const ENTRY_BYTES = 100;
const ID_BYTES = 8;

// A byte of a word this long takes about 10 µs to encode, several times as much as one of a short word. The total per
// question is limited, so that encoding ends within the function's timeout.
const LONG_WORD_BYTES = 16_384;
const MAX_LONG_WORDS_BYTES = 400_000;

// SentencePiece's mark at the start of a word.
const WORD_START = '\u2581';
const STARTS_INSIDE = /[^\u2581]\u2581/;
const BEFORE_START = /(?<=[^\u2581])(?=\u2581)/;

const stagesOf = (preTokenizer: PreTokenizer | null): PreTokenizer[] => {
  if (!preTokenizer) return [];
  return preTokenizer.tokenizers ? preTokenizer.tokenizers.flatMap(stagesOf) : [preTokenizer];
};

// Such a stage only spells a word's bytes as letters, so that words can be cached in their original spelling.
const isSpelling = (stage: PreTokenizer | undefined): boolean =>
  stage?.byte_encoder !== undefined && !stage.use_regex && !stage.add_prefix_space;

// If no vocabulary entry has a word start after other text, no merge crosses it, so text without other boundaries can
// be split there.
const mayCutAtStarts = ({ model }: TokenizerParts): boolean =>
  model.merges !== undefined && model.vocab.includes(WORD_START) && !model.vocab.some((entry = '') => STARTS_INSIDE.test(entry));

const BEYOND_LATIN_1 = /[^\0-\xff]/;

// A substring would keep the whole text in memory.
const copyOf = (text: string): { copy: string; bytes: number } => {
  const encoding = BEYOND_LATIN_1.test(text) ? 'utf16le' : 'latin1';
  const bytes = Buffer.from(text, encoding);
  return { copy: bytes.toString(encoding), bytes: bytes.length };
};

// Most words are one token, and a number needs less memory than an array.
type WordTokens = number | readonly number[];

const lengthOf = (tokens: WordTokens): number => (typeof tokens === 'number' ? 1 : tokens.length);

const withMergedUnknowns = (ids: readonly number[], repeated: number | undefined): number[] =>
  ids.filter((id, i) => id !== repeated || ids[i - 1] !== id);

/**
 * Encodes texts without added tokens. `isFirst`: the start of the whole text, where some tokenizers add a space.
 * Throws TextRefused.
 */
export interface Words {
  encode(text: string, isFirst: boolean): number[];
  /** The number of tokens; undefined if there are more than `limit`. */
  count(text: string, isFirst: boolean, limit: number): number | undefined;
}

// Most words occur again.
const createWordCache = () => {
  let known = new Map<string, WordTokens>();
  let knownBytes = 0;
  return {
    get: (word: string): WordTokens | undefined => known.get(word),
    set: (word: string, tokens: WordTokens): void => {
      if (word.length > MAX_WORD_LENGTH) return;
      const { copy, bytes } = copyOf(word);
      if (knownBytes > MAX_CACHED_BYTES) [known, knownBytes] = [new Map(), 0];
      known.set(copy, tokens);
      knownBytes += ENTRY_BYTES + bytes + (typeof tokens === 'number' ? 0 : tokens.length * ID_BYTES);
    },
  };
};

const createLongWordLimit = () => {
  let longBytes = 0;
  return (word: string): void => {
    const bytes = Buffer.byteLength(word);
    if (bytes <= LONG_WORD_BYTES) return;
    longBytes += bytes;
    if (longBytes <= MAX_LONG_WORDS_BYTES) return;
    throw new TextRefused(`more than ${MAX_LONG_WORDS_BYTES} bytes in words longer than ${LONG_WORD_BYTES} bytes`);
  };
};

/**
 * Returns a function that creates the encoder of a question. It splits words as the tokenizer does; all questions
 * share the word cache.
 */
export const createWords = (tokenizer: TokenizerParts): (() => Words) => {
  const { model } = tokenizer;
  // The library's own word cache would duplicate ours.
  model.max_length_to_cache = 0;
  const stages = stagesOf(tokenizer.pre_tokenizer);
  const spelling = isSpelling(stages.at(-1)) ? stages.pop() : undefined;
  const cutsAtStarts = mayCutAtStarts(tokenizer);
  const cache = createWordCache();

  const wordsOf = (text: string, isFirst: boolean): string[] => {
    const options = { section_index: isFirst ? 0 : 1 };
    const words = stages.reduce<string[]>((parts, stage) => stage.pre_tokenize(parts, options), [text]);
    return cutsAtStarts ? words.flatMap((word) => word.split(BEFORE_START)) : words;
  };

  const encodeWord = (word: string): WordTokens => {
    const tokens = model.encode(spelling ? spelling.pre_tokenize([word]) : [word]);
    const ids = tokens.map((token) => (model.tokens_to_ids.get(token) ?? model.unk_token_id) as number);
    const encoded = ids.length === 1 ? (ids[0] as number) : ids;
    cache.set(word, encoded);
    return encoded;
  };

  return () => {
    const checkLongWords = createLongWordLimit();

    const tokensOf = (word: string): WordTokens => {
      const cached = cache.get(word);
      if (cached !== undefined) return cached;
      checkLongWords(word);
      return encodeWord(word);
    };

    const encode = (text: string, isFirst: boolean): number[] => {
      const ids: number[] = [];
      for (const word of wordsOf(text, isFirst)) {
        const encoded = tokensOf(word);
        if (typeof encoded === 'number') ids.push(encoded);
        else for (const id of encoded) ids.push(id);
      }
      return model.fuse_unk ? withMergedUnknowns(ids, model.unk_token_id) : ids;
    };

    const count = (text: string, isFirst: boolean, limit: number): number | undefined => {
      let tokens = 0;
      for (const word of wordsOf(text, isFirst)) {
        tokens += lengthOf(tokensOf(word));
        if (tokens > limit) return undefined;
      }
      return tokens;
    };

    /** If unknown tokens are merged across words, words can't be counted separately. */
    const countFused: typeof count = (text, isFirst, limit) => {
      const { length } = encode(text, isFirst);
      return length > limit ? undefined : length;
    };

    return { encode, count: model.fuse_unk && !model.byte_fallback ? countFused : count };
  };
};
