import { logSumExp } from './logits.ts';

export interface TokenLogprob {
  token: number;
  logprob: number;
}

/** The logprob of the chosen token, and the likeliest tokens at its position, best first. */
export interface ChosenLogprob extends TokenLogprob {
  top: readonly TokenLogprob[];
}

/** Returns vLLM's `raw_logprobs`, natural logarithms of probabilities, from the model's unmodified logits. */
export const logprobOf = (logits: Float32Array, token: number, topCount: number): ChosenLogprob => {
  const normalizer = logSumExp(logits);
  const toLogprob = (id: number): TokenLogprob => ({ token: id, logprob: (logits[id] ?? 0) - normalizer });
  return { ...toLogprob(token), top: largest(logits, topCount).map(toLogprob) };
};

// Largest first; of equal logits, the lower id first.
const largest = (logits: Float32Array, count: number): number[] => {
  const found: number[] = [];
  if (count === 0) return found;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] ?? 0;
    if (found.length === count && logit <= (logits[found.at(-1) ?? 0] ?? 0)) continue;
    const at = found.findIndex((other) => (logits[other] ?? 0) < logit);
    found.splice(at < 0 ? found.length : at, 0, id);
    if (found.length > count) found.pop();
  }
  return found;
};
