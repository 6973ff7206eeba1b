import type { PreTokenizer, TokenizerParts } from './tokenizer-parts.ts';

/** Of each tokenizer at most this many words are remembered; longer words are not. Together that is some 15 MB. */
const MAX_WORDS = 100_000;
const MAX_WORD_LENGTH = 64;

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

/** A string of its own: a part of a long text would keep all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/** The token ids of a word. Most words are one token, and a number takes no memory of its own. */
type WordTokens = number | readonly number[];

const lengthOf = (tokens: WordTokens): number => (typeof tokens === 'number' ? 1 : tokens.length);

/** Unknown tokens that stand side by side are one. */
const withoutRepeats = (ids: readonly number[], repeated: number | undefined): number[] =>
  ids.filter((id, i) => id !== repeated || ids[i - 1] !== id);

/** What texts without added tokens are encoded to. `isFirst`: the beginning of the whole text, which some tokenizers put a space before. */
export interface Words {
  encode(text: string, isFirst: boolean): number[];
  /** How many tokens; undefined when there are more than `limit`. */
  count(text: string, isFirst: boolean, limit: number): number | undefined;
}

/** Cuts a text into words as the tokenizer does and remembers the tokens of each word: most words come again. */
export const createWords = (tokenizer: TokenizerParts): Words => {
  const { model } = tokenizer;
  const stages = stagesOf(tokenizer.pre_tokenizer);
  const spelling = isSpelling(stages.at(-1)) ? stages.pop() : undefined;
  const cutsAtStarts = mayCutAtStarts(tokenizer);
  let known = new Map<string, WordTokens>();

  const wordsOf = (text: string, isFirst: boolean): string[] => {
    const options = { section_index: isFirst ? 0 : 1 };
    const words = stages.reduce<string[]>((parts, stage) => stage.pre_tokenize(parts, options), [text]);
    return cutsAtStarts ? words.flatMap((word) => word.split(BEFORE_START)) : words;
  };

  const encodeWord = (word: string): WordTokens => {
    const remembered = known.get(word);
    if (remembered !== undefined) return remembered;
    const tokens = model.encode(spelling ? spelling.pre_tokenize([word]) : [word]);
    const ids = tokens.map((token) => (model.tokens_to_ids.get(token) ?? model.unk_token_id) as number);
    const encoded = ids.length === 1 ? (ids[0] as number) : ids;
    if (word.length > MAX_WORD_LENGTH) return encoded;
    if (known.size >= MAX_WORDS) known = new Map();
    known.set(copyOf(word), encoded);
    return encoded;
  };

  const encode = (text: string, isFirst: boolean): number[] => {
    const ids: number[] = [];
    for (const word of wordsOf(text, isFirst)) {
      const encoded = encodeWord(word);
      if (typeof encoded === 'number') ids.push(encoded);
      else for (const id of encoded) ids.push(id);
    }
    return model.fuse_unk ? withoutRepeats(ids, model.unk_token_id) : ids;
  };

  const count = (text: string, isFirst: boolean, limit: number): number | undefined => {
    let tokens = 0;
    for (const word of wordsOf(text, isFirst)) {
      tokens += lengthOf(encodeWord(word));
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
