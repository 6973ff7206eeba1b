import { refuseManyMarks } from './combining-marks.ts';
import { createSplitAt } from './split-at.ts';
import type { TokenizerParts } from './tokenizer-parts.ts';

/** How a tokenizer's added tokens cut a text: at even places of the parts is plain text, also empty, at odd ones an added token. */
export interface AddedTokens {
  /** Cuts at those that stand in the text as it is written. */
  split(text: string): string[];
  /** Normalizes plain text, and cuts it at those that stand only in normalized text. Throws TextRefused. */
  splitPlain(text: string): string[];
  /** The id of an added token by its spelling, normalized where it is so found; undefined for anything else. */
  idOf(spelling: string): number | undefined;
}

/** The added tokens of a tokenizer. */
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
