import type { Step } from '../generation/generate.ts';
import type { ContainerTokenizer } from '../model/tokenizer.ts';

/** A token with its logprob; null for the first token of a prompt, which has no context. */
export type ScoredToken = Pick<Step, 'token' | 'logprob'>;

/** The length in code points, like Python's `len`. */
export const lengthOf = (text: string): number => Array.from(text).length;

/**
 * Returns vLLM's logprobs of a text completion. `offset` is the length of the text before these tokens; offsets count
 * code points.
 */
export const toLogprobs = (scored: readonly ScoredToken[], offset: number, tokenizer: ContainerTokenizer) => {
  const textOf = (token: number): string => tokenizer.decode([token], true);
  const tokens = scored.map(({ token }) => textOf(token));
  let at = offset;
  return {
    text_offset: tokens.map((token) => {
      const start = at;
      at += lengthOf(token);
      return start;
    }),
    token_logprobs: scored.map(({ logprob }) => logprob?.logprob ?? null),
    tokens,
    top_logprobs: scored.map(
      ({ logprob }) => logprob && Object.fromEntries([logprob, ...logprob.top].map((one) => [textOf(one.token), one.logprob])),
    ),
  };
};
