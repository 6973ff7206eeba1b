import * as z from 'zod';
import { TokenIds } from './token-ids.ts';

/** Lambda's limit is 6 MB for a result; this leaves room for wrapping the answer. */
export const MAX_ANSWER_BYTES = 5_500_000;
/** A body can have 250,000 values, so the tokens of one reply can be sent back in one request. */
export const MAX_ANSWER_TOKENS = 240_000;

const Tokens = z.int().min(0);

export const FitAnswer = z.object({
  /**
   * The tokens of the prompt with the kept messages only, or of the whole prompt if `kept` is null. null if only a
   * count was requested and the prompt can't be rendered here; its runtime may still render it.
   */
  prompt_tokens: Tokens.nullable(),
  /** The indexes of the messages that stay, ascending; null if only a count was requested. */
  kept: z.array(z.int().min(0)).nullable(),
});
export type FitAnswer = z.infer<typeof FitAnswer>;

export const CountAnswer = z.object({
  /** null if there was no prompt, or it couldn't be counted. */
  prompt_tokens: Tokens.nullable(),
  /** One number for each text. */
  text_tokens: z.array(Tokens),
  /** The number of special tokens that the tokenizer adds to each text; not included in `text_tokens`. */
  special_tokens: Tokens.optional(),
});
export type CountAnswer = z.infer<typeof CountAnswer>;

export const TokenizeAnswer = z.object({
  tokens: TokenIds,
  /** The tokens as the vocabulary spells them; null if not requested. */
  token_strs: z.custom<string[]>(Array.isArray).nullable(),
});
export type TokenizeAnswer = z.infer<typeof TokenizeAnswer>;

export const DetokenizeAnswer = z.object({ text: z.string() });
export type DetokenizeAnswer = z.infer<typeof DetokenizeAnswer>;

/** The index of the first token id that is not in the vocabulary. */
export const UnknownId = z.object({ unknown_at: z.int().min(0) });
export type UnknownId = z.infer<typeof UnknownId>;

/** The answer has more tokens or bytes than one function can return to another. */
export const TooLarge = z.object({ too_large: z.literal(true) });
export type TooLarge = z.infer<typeof TooLarge>;

/**
 * The chat template rejected the prompt, or the tokenizer the text. Not a failure of the function, so it is an
 * answer.
 */
export const TokenizerRefusal = z.object({ refused: z.string(), by: z.enum(['template', 'tokenizer']) });
export type TokenizerRefusal = z.infer<typeof TokenizerRefusal>;
