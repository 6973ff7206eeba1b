import type { AddedTokens } from './added-tokens.ts';
import type { TokenizerParts } from './tokenizer-parts.ts';
import type { Words } from './words.ts';

/**
 * A text in, its token ids out. The spelling of an added token, as `<|im_end|>`, becomes that token. Throws TextRefused for a text that takes too long.
 * @param addSpecialTokens whether to add what the tokenizer puts around a text of its own accord, such as a token that begins it
 */
export type EncodeText = (text: string, addSpecialTokens: boolean) => number[];

/** Stands for the text where a tokenizer says what comes around it. */
const TEXT = '\uFDD0';

/** The tokens that a tokenizer puts around a text, with TEXT in its place. */
const surroundingsOf = ({ post_processor }: TokenizerParts): string[] => post_processor?.([TEXT], null, true).tokens ?? [TEXT];

/** An encoder for one tokenizer. */
export const createEncodeText = (
  tokenizer: TokenizerParts,
  { split, splitPlain, idOf }: AddedTokens,
  createWords: () => Words,
): EncodeText => {
  const surroundings = surroundingsOf(tokenizer);
  const idOfSpecial = (token: string): number => idOf(token) ?? (tokenizer.model.tokens_to_ids.get(token) as number);

  const encode = (text: string): number[] => {
    const words = createWords();
    const ids: number[] = [];
    const take = (parts: string[], takePlain: (plain: string, place: number) => void): void => {
      for (const [place, part] of parts.entries()) {
        if (place % 2 === 1) ids.push(idOf(part) as number);
        else if (part !== '') takePlain(part, place);
      }
    };
    take(split(text), (section, place) =>
      take(splitPlain(section), (plain) => {
        for (const id of words.encode(plain, place === 0)) ids.push(id);
      }),
    );
    return ids;
  };

  return (text, addSpecialTokens) => {
    const ids = encode(text);
    return addSpecialTokens && surroundings.length > 1 ? surroundings.flatMap((token) => (token === TEXT ? ids : idOfSpecial(token))) : ids;
  };
};
