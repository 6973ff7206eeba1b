import { TextRefused } from '../../../shared/tokens/errors.ts';
import { createSplitAt } from './split-at.ts';
import type { TokenizerParts } from './tokenizer-parts.ts';

/**
 * Splits texts at a tokenizer's added tokens. Parts with an even index are plain text, possibly empty; parts with an
 * odd index are added tokens.
 */
export interface AddedTokens {
  /** Splits at the added tokens that are matched before normalization. */
  split(text: string): string[];
  /**
   * Normalizes plain text, and splits it at the added tokens that are matched after normalization. Throws
   * TextRefused.
   */
  splitPlain(text: string): string[];
  /**
   * The id of an added token by its spelling (the normalized one, if it is matched after normalization); undefined
   * for anything else.
   */
  idOf(spelling: string): number | undefined;
}

// The time to normalize a run of marks grows with the square of its length. No language has more than a few in a row.
const MAX_MARKS = 1_024;

// Matches only from the first mark of a run, so that each character is scanned once.
const TOO_MANY = new RegExp(`(?<!\\p{M})\\p{M}{${MAX_MARKS + 1}}`, 'u');

const refuseManyMarks = (text: string): void => {
  if (TOO_MANY.test(text)) throw new TextRefused(`more than ${MAX_MARKS} combining marks in a row`);
};

export const createAddedTokens = (tokenizer: TokenizerParts): AddedTokens => {
  const { normalizer } = tokenizer;
  const normalize = (text: string): string => {
    if (!normalizer) return text;
    refuseManyMarks(text);
    return normalizer(text);
  };
  const added = [...tokenizer.get_added_tokens_decoder()].map(([id, { content, lstrip, rstrip, normalized }]) => {
    const isNormalized = normalized && normalizer !== null;
    return { id, content: isNormalized ? normalize(content) : content, lstrip, rstrip, isNormalized };
  });
  const splitNormalized = createSplitAt(added.filter((token) => token.isNormalized));
  const ids = new Map(added.map(({ content, id }) => [content, id]));
  return {
    split: createSplitAt(added.filter((token) => !token.isNormalized)),
    splitPlain: (text) => splitNormalized(normalize(text)),
    idOf: (spelling) => ids.get(spelling),
  };
};
