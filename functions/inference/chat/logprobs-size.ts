import { InvalidRequest } from '../../../shared/http/errors.ts';

/**
 * The most log probabilities to hold in memory at once: each is many times the size of its text. With this many, collected into one response
 * or read as one line, a function stays below 200 MB.
 */
export const MAX_LOGPROBS = 70_000;

interface LogprobsSize {
  /** The most tokens that can have log probabilities. */
  tokens: number;
  /** How many of the most likely tokens are listed at each position, in addition to the chosen one. */
  top: number;
  /** How the count is calculated, with the caller's field names. */
  formula: string;
  /** What the limit applies to, and what the caller can do about it. */
  holder: string;
  remedy: string;
  /** The field that requests them. */
  param: string;
  most?: number;
}

/** @throws InvalidRequest when a response could have more log probabilities than fit into memory */
export const checkLogprobsSize = ({ tokens, top, formula, holder, remedy, param, most = MAX_LOGPROBS }: LogprobsSize): void => {
  const count = tokens * (top + 1);
  if (count <= most) return;
  const message = `This request can return up to ${count} log probabilities (${formula}), but ${holder} can hold at most ${most}. ${remedy}`;
  throw new InvalidRequest({ param, message });
};
