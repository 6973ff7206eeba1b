import * as z from 'zod';
import { TokenIds } from './token-ids.ts';

/** Lambda hands on up to 6 MB; this much is left when an answer is wrapped. */
export const MAX_ANSWER_BYTES = 5_500_000;
/** A body may hold 250,000 values: what one reply gives, one request can send back. */
export const MAX_ANSWER_TOKENS = 240_000;

const Tokens = z.int().min(0);

export const FitAnswer = z.object({
  /**
   * Of the prompt with only the messages that are kept; of the whole prompt where `kept` is null. null where only a count was asked for and the prompt
   * cannot be rendered here: its runtime may render it all the same.
   */
  prompt_tokens: Tokens.nullable(),
  /** The indexes of the messages that stay, ascending; null where only a count was asked for. */
  kept: z.array(z.int().min(0)).nullable(),
});
export type FitAnswer = z.infer<typeof FitAnswer>;

export const CountAnswer = z.object({
  /** null where there was no prompt to count. */
  prompt_tokens: Tokens.nullable(),
  /** One number a text. */
  text_tokens: z.array(Tokens),
  /** How many the tokenizer puts around each text of its own accord, which are not in these. */
  special_tokens: Tokens.optional(),
});
export type CountAnswer = z.infer<typeof CountAnswer>;

export const TokenizeAnswer = z.object({
  tokens: TokenIds,
  /** As the vocabulary has them; null where they were not asked for. */
  token_strs: z.custom<string[]>(Array.isArray).nullable(),
});
export type TokenizeAnswer = z.infer<typeof TokenizeAnswer>;

export const DetokenizeAnswer = z.object({ text: z.string() });
export type DetokenizeAnswer = z.infer<typeof DetokenizeAnswer>;

/** The place of the first token id that the vocabulary does not have. */
export const UnknownId = z.object({ unknown_at: z.int().min(0) });
export type UnknownId = z.infer<typeof UnknownId>;

/** There is an answer, and it has more tokens or bytes than one function can hand to another. */
export const TooLarge = z.object({ too_large: z.literal(true) });
export type TooLarge = z.infer<typeof TooLarge>;

/** The chat template does not take the prompt, or the tokenizer the text: no failure of the function, so it is an answer. */
export const Refusal = z.object({ refused: z.string(), by: z.enum(['template', 'tokenizer']) });
export type Refusal = z.infer<typeof Refusal>;
