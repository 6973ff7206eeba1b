import type { Step } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../tokenizer.ts';

/** A token and how likely it was; null for the first of a prompt, which nothing comes before. */
export type ToldToken = Pick<Step, 'token' | 'logprob'>;

/** Characters beyond the basic plane count once: this is Python's `len`. */
export const lengthOf = (text: string): number => Array.from(text).length;

/** Tokens in, and how many characters the reply had before them, vLLM's object of plain completions out; the likeliest tokens have the chosen one among them. */
export const toLogprobs = (told: readonly ToldToken[], offset: number, tokenizer: ContainerTokenizer) => {
  const textOf = (token: number): string => tokenizer.decode([token], true);
  const tokens = told.map(({ token }) => textOf(token));
  let at = offset;
  return {
    text_offset: tokens.map((token) => {
      const start = at;
      at += lengthOf(token);
      return start;
    }),
    token_logprobs: told.map(({ logprob }) => logprob?.logprob ?? null),
    tokens,
    top_logprobs: told.map(
      ({ logprob }) => logprob && Object.fromEntries([logprob, ...logprob.top].map((one) => [textOf(one.token), one.logprob])),
    ),
  };
};
