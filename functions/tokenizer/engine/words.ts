import { TextRefused } from '../../../shared/tokens/errors.ts';
import type { PreTokenizer, TokenizerParts } from './tokenizer-parts.ts';

/** What the remembered words of a tokenizer may take in memory, by the estimate below. Longer words are not remembered. */
const MAX_REMEMBERED_BYTES = 15_000_000;
const MAX_WORD_LENGTH = 64;
/** Of an entry of a map, a string and an array of numbers, without their contents. */
const ENTRY_BYTES = 100;
const ID_BYTES = 8;

/**
 * A byte of a word this long takes some 10 µs, several times as much as one of a short word. So a question may have only so many of them: more are
 * not encoded within the time that Lambda has for it.
 */
const LONG_WORD_BYTES = 16_384;
const MAX_LONG_WORDS_BYTES = 400_000;

/** Where a word of SentencePiece begins. */
const WORD_START = '\u2581';
const STARTS_INSIDE = /[^\u2581]\u2581/;
const BEFORE_START = /(?<=[^\u2581])(?=\u2581)/;

const stagesOf = (preTokenizer: PreTokenizer | null): PreTokenizer[] => {
  if (!preTokenizer) return [];
  return preTokenizer.tokenizers ? preTokenizer.tokenizers.flatMap(stagesOf) : [preTokenizer];
};

/** Only spells a word's bytes as letters, so that the words before it can be looked up as they are written. */
const isSpelling = (stage: PreTokenizer | undefined): boolean =>
  stage?.byte_encoder !== undefined && !stage.use_regex && !stage.add_prefix_space;

/**
 * Where no entry of the vocabulary has a word's start after something else, no merge crosses it, and text without other cuts may be cut there.
 */
const mayCutAtStarts = ({ model }: TokenizerParts): boolean =>
  model.merges !== undefined && model.vocab.includes(WORD_START) && !model.vocab.some((entry = '') => STARTS_INSIDE.test(entry));

const BEYOND_LATIN_1 = /[^\0-\xff]/;

/** A string of its own, and its bytes: a part of a long text would keep all of it in memory. */
const copyOf = (text: string): { copy: string; bytes: number } => {
  const encoding = BEYOND_LATIN_1.test(text) ? 'utf16le' : 'latin1';
  const bytes = Buffer.from(text, encoding);
  return { copy: bytes.toString(encoding), bytes: bytes.length };
};

/** The token ids of a word. Most words are one token, and a number takes no memory of its own. */
type WordTokens = number | readonly number[];

const lengthOf = (tokens: WordTokens): number => (typeof tokens === 'number' ? 1 : tokens.length);

/** Unknown tokens that stand side by side are one. */
const withoutRepeats = (ids: readonly number[], repeated: number | undefined): number[] =>
  ids.filter((id, i) => id !== repeated || ids[i - 1] !== id);

/** What texts without added tokens are encoded to, for one question. `isFirst`: the beginning of the whole text, which some tokenizers put a space before. Both throw TextRefused for too many long words. */
export interface Words {
  encode(text: string, isFirst: boolean): number[];
  /** How many tokens; undefined when there are more than `limit`. */
  count(text: string, isFirst: boolean, limit: number): number | undefined;
}

/** The tokens of words that were met before: most come again. */
const createMemory = () => {
  let known = new Map<string, WordTokens>();
  let knownBytes = 0;
  return {
    recall: (word: string): WordTokens | undefined => known.get(word),
    remember: (word: string, tokens: WordTokens): void => {
      if (word.length > MAX_WORD_LENGTH) return;
      const { copy, bytes } = copyOf(word);
      if (knownBytes > MAX_REMEMBERED_BYTES) [known, knownBytes] = [new Map(), 0];
      known.set(copy, tokens);
      knownBytes += ENTRY_BYTES + bytes + (typeof tokens === 'number' ? 0 : tokens.length * ID_BYTES);
    },
  };
};

/** What a question may still have of long words. */
const createAllowance = () => {
  let longBytes = 0;
  return (word: string): void => {
    const bytes = Buffer.byteLength(word);
    if (bytes <= LONG_WORD_BYTES) return;
    longBytes += bytes;
    if (longBytes <= MAX_LONG_WORDS_BYTES) return;
    throw new TextRefused(`more than ${MAX_LONG_WORDS_BYTES} bytes in words longer than ${LONG_WORD_BYTES} bytes`);
  };
};

/** A function that gives the words of a question. They are cut as the tokenizer does; what is known of them is shared by all questions. */
export const createWords = (tokenizer: TokenizerParts): (() => Words) => {
  const { model } = tokenizer;
  // The words that the library would remember beside ours are the same.
  model.max_length_to_cache = 0;
  const stages = stagesOf(tokenizer.pre_tokenizer);
  const spelling = isSpelling(stages.at(-1)) ? stages.pop() : undefined;
  const cutsAtStarts = mayCutAtStarts(tokenizer);
  const memory = createMemory();

  const wordsOf = (text: string, isFirst: boolean): string[] => {
    const options = { section_index: isFirst ? 0 : 1 };
    const words = stages.reduce<string[]>((parts, stage) => stage.pre_tokenize(parts, options), [text]);
    return cutsAtStarts ? words.flatMap((word) => word.split(BEFORE_START)) : words;
  };

  const encodeWord = (word: string): WordTokens => {
    const tokens = model.encode(spelling ? spelling.pre_tokenize([word]) : [word]);
    const ids = tokens.map((token) => (model.tokens_to_ids.get(token) ?? model.unk_token_id) as number);
    const encoded = ids.length === 1 ? (ids[0] as number) : ids;
    memory.remember(word, encoded);
    return encoded;
  };

  return () => {
    const allow = createAllowance();

    const tokensOf = (word: string): WordTokens => {
      const remembered = memory.recall(word);
      if (remembered !== undefined) return remembered;
      allow(word);
      return encodeWord(word);
    };

    const encode = (text: string, isFirst: boolean): number[] => {
      const ids: number[] = [];
      for (const word of wordsOf(text, isFirst)) {
        const encoded = tokensOf(word);
        if (typeof encoded === 'number') ids.push(encoded);
        else for (const id of encoded) ids.push(id);
      }
      return model.fuse_unk ? withoutRepeats(ids, model.unk_token_id) : ids;
    };

    const count = (text: string, isFirst: boolean, limit: number): number | undefined => {
      let tokens = 0;
      for (const word of wordsOf(text, isFirst)) {
        tokens += lengthOf(tokensOf(word));
        if (tokens > limit) return undefined;
      }
      return tokens;
    };

    /** Where what is unknown becomes one token across words, no word can be counted by itself. */
    const countFused: typeof count = (text, isFirst, limit) => {
      const { length } = encode(text, isFirst);
      return length > limit ? undefined : length;
    };

    return { encode, count: model.fuse_unk && !model.byte_fallback ? countFused : count };
  };
};
