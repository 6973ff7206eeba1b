import * as z from 'zod';

const Tokens = z.int().min(0);

export const FitAnswer = z.object({
  /** Of the prompt with only the messages that are kept; of the whole prompt where `kept` is null. */
  prompt_tokens: Tokens,
  /** The indexes of the messages that stay, ascending; null where only a count was asked for. */
  kept: z.array(z.int().min(0)).nullable(),
});
export type FitAnswer = z.infer<typeof FitAnswer>;

export const CountAnswer = z.object({
  /** null where there was no prompt to count. */
  prompt_tokens: Tokens.nullable(),
  /** One number a text. */
  text_tokens: z.array(Tokens),
});
export type CountAnswer = z.infer<typeof CountAnswer>;

/** The chat template does not take the prompt: no failure of the function, so it is an answer. */
export const Refusal = z.object({ refused: z.string() });
export type Refusal = z.infer<typeof Refusal>;
