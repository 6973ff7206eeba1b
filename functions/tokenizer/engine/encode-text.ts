import type { AddedTokens } from './added-tokens.ts';
import type { TokenizerParts } from './tokenizer-parts.ts';
import type { Words } from './words.ts';

/**
 * Encodes a text to token ids. The spelling of an added token, such as `<|im_end|>`, becomes that token. Throws
 * TextRefused if it takes too long.
 * @param addSpecialTokens whether to add the special tokens that the tokenizer puts around a text, such as a begin
 * token
 */
export type EncodeText = (text: string, addSpecialTokens: boolean) => number[];

// A placeholder for the text, to find out which special tokens the tokenizer puts around it.
const TEXT_PLACEHOLDER = '\uFDD0';

const surroundingsOf = ({ post_processor }: TokenizerParts): string[] =>
  post_processor?.([TEXT_PLACEHOLDER], null, true).tokens ?? [TEXT_PLACEHOLDER];

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
    return addSpecialTokens && surroundings.length > 1
      ? surroundings.flatMap((token) => (token === TEXT_PLACEHOLDER ? ids : idOfSpecial(token)))
      : ids;
  };
};
