import type { PreTokenizer, TokenizerParts } from './tokenizer-parts.ts';

/** Of each tokenizer at most this many words are remembered; longer words are not. Together that is some 10 MB. */
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
  model.merges !== undefined &&
  (!model.fuse_unk || model.byte_fallback === true) &&
  model.vocab.includes(WORD_START) &&
  !model.vocab.some((entry) => STARTS_INSIDE.test(entry));

/** A string of its own: a part of a long text would keep all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

/**
 * How many tokens a text without added tokens has.
 * @param isFirst whether it is the beginning of the whole text, which some tokenizers put a space before
 * @returns undefined when there are more than `limit`
 */
export type CountWords = (text: string, isFirst: boolean, limit: number) => number | undefined;

/** A counter that cuts a text into words as the tokenizer does and remembers the length of each word: most words come again. */
export const createCountWords = (tokenizer: TokenizerParts): CountWords => {
  const { model } = tokenizer;
  const stages = stagesOf(tokenizer.pre_tokenizer);
  const spelling = isSpelling(stages.at(-1)) ? stages.pop() : undefined;
  const cutsAtStarts = mayCutAtStarts(tokenizer);
  let known = new Map<string, number>();

  const wordsOf = (text: string, isFirst: boolean): string[] => {
    const options = { section_index: isFirst ? 0 : 1 };
    const words = stages.reduce<string[]>((parts, stage) => stage.pre_tokenize(parts, options), [text]);
    return cutsAtStarts ? words.flatMap((word) => word.split(BEFORE_START)) : words;
  };

  const countWord = (word: string): number => {
    const remembered = known.get(word);
    if (remembered !== undefined) return remembered;
    const count = model.encode(spelling ? spelling.pre_tokenize([word]) : [word]).length;
    if (word.length > MAX_WORD_LENGTH) return count;
    if (known.size >= MAX_WORDS) known = new Map();
    known.set(copyOf(word), count);
    return count;
  };

  return (text, isFirst, limit) => {
    let count = 0;
    for (const word of wordsOf(text, isFirst)) {
      count += countWord(word);
      if (count > limit) return undefined;
    }
    return count;
  };
};
