import { type Check, reply } from '../check.ts';
import type { Reply, TokenLogprob } from '../reply.ts';
import { accepted, fails, type Verdict, works } from '../verdict.ts';

const TOP = 3;
// Log probabilities are rounded differently in different places.
const ROUNDING = 1e-3;
// A token id that every vocabulary has, for containers that do not return token ids.
const ANY_TOKEN = 1;
// Few enough to cut the answer off, since containers differ in whether they return the token that ends it.
const SHORT = { max_tokens: 8 };
const WITH_TOKEN_IDS = { ...SHORT, return_token_ids: true };

const logprobFault = (logprobs: readonly TokenLogprob[], top: number): string | undefined => {
  for (const { logprob, top_logprobs } of logprobs) {
    const likely = top_logprobs ?? [];
    if (logprob > 0 || likely.some((other) => other.logprob > 0)) return 'a log probability is above 0';
    if (likely.length < top) return `${likely.length} likely tokens, but the request asks for ${top}`;
    if (likely.some((other) => other.logprob > logprob + ROUNDING))
      return 'at temperature 0, a token was chosen that is not the most likely one';
  }
  return undefined;
};

const hasLogprobs =
  (top: number) =>
  (replies: readonly Reply[]): Verdict => {
    const { logprobs, completionTokens } = reply(replies, 0);
    if (logprobs.length !== completionTokens) return fails(`${logprobs.length} logprobs for ${completionTokens} tokens`);
    const fault = logprobFault(logprobs, top);
    return fault ? fails(fault) : works;
  };

// The second token of the greedy answer, since the first may begin the reasoning.
const wantedToken = (tokenIds: readonly number[]): number => tokenIds[1] ?? ANY_TOKEN;

const generatesOnly = (replies: readonly Reply[], { tokenIds }: { tokenIds: readonly number[] }): Verdict => {
  const generated = reply(replies, 0).tokenIds;
  if (tokenIds.length === 0 || generated.length === 0) return accepted;
  return generated.every((id) => id === wantedToken(tokenIds)) ? works : fails("a token that isn't allowed was generated");
};

/** Checks of what is returned about tokens, and of which tokens are allowed. */
export const tokenChecks: readonly Check[] = [
  { field: 'logprobs', bodies: () => [{ ...SHORT, logprobs: true }], judge: hasLogprobs(0) },
  { field: 'top_logprobs', bodies: () => [{ ...SHORT, logprobs: true, top_logprobs: TOP }], judge: hasLogprobs(TOP) },
  {
    field: 'return_token_ids',
    bodies: () => [WITH_TOKEN_IDS],
    judge: (replies) => {
      const { tokenIds, completionTokens, promptTokenIds, promptTokens, hasUsage } = reply(replies, 0);
      if (!hasUsage) return accepted;
      if (tokenIds.length !== completionTokens) return fails(`${tokenIds.length} token ids for ${completionTokens} tokens`);
      return promptTokenIds.length === promptTokens ? works : fails(`${promptTokenIds.length} token ids for a prompt of ${promptTokens}`);
    },
  },
  {
    field: 'logit_bias',
    variant: '100',
    bodies: ({ tokenIds }) => [{ ...WITH_TOKEN_IDS, logit_bias: { [wantedToken(tokenIds)]: 100 } }],
    judge: generatesOnly,
  },
  {
    field: 'logit_bias',
    variant: '-100',
    bodies: ({ tokenIds }) => [{ ...WITH_TOKEN_IDS, logit_bias: { [wantedToken(tokenIds)]: -100 } }],
    judge: (replies, { tokenIds }) => {
      const generated = reply(replies, 0).tokenIds;
      if (tokenIds.length === 0 || generated.length === 0) return accepted;
      return generated.includes(wantedToken(tokenIds)) ? fails('the token was generated anyway') : works;
    },
  },
  {
    field: 'allowed_token_ids',
    bodies: ({ tokenIds }) => [{ ...WITH_TOKEN_IDS, allowed_token_ids: [wantedToken(tokenIds)] }],
    judge: generatesOnly,
  },
  {
    field: 'bad_words',
    bodies: ({ word }) => [{ bad_words: [word ?? 'river'] }],
    judge: (replies, { word }) => {
      if (!word) return accepted;
      return new RegExp(`\\b${word}\\b`, 'u').test(reply(replies, 0).text) ? fails('the word was generated anyway') : works;
    },
  },
  {
    // In most templates, the first token of a prompt is a special token.
    field: 'skip_special_tokens',
    bodies: ({ promptTokenIds }) =>
      [true, false].map((skip_special_tokens) => ({
        max_tokens: 4,
        logit_bias: { [promptTokenIds[0] ?? ANY_TOKEN]: 100 },
        skip_special_tokens,
      })),
    judge: (replies) => (reply(replies, 0).text.length < reply(replies, 1).text.length ? works : accepted),
  },
];
