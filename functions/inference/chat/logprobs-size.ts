import { InvalidRequest } from '../../../shared/http/errors.ts';

/**
 * More log probabilities than this are not held beside each other: each is many times the size of its text. With this many, gathered into one reply
 * or read as one line, a function stays below 200 MB.
 */
export const MAX_LOGPROBS = 70_000;

interface LogprobsSize {
  /** How many tokens have log probabilities at most. */
  tokens: number;
  /** Of how many likeliest tokens at each place, beside the one that stands there. */
  top: number;
  /** What the count is made of, in the caller's words. */
  formula: string;
  /** What cannot hold them, and what can be done about it. */
  holder: string;
  remedy: string;
  /** The property that asks for them. */
  param: string;
  most?: number;
}

/** 400 when a reply may hold more log probabilities than can be held. */
export const checkLogprobsSize = ({ tokens, top, formula, holder, remedy, param, most = MAX_LOGPROBS }: LogprobsSize): void => {
  const count = tokens * (top + 1);
  if (count <= most) return;
  const message = `This request can return up to ${count} log probabilities (${formula}), but ${holder} can hold at most ${most}. ${remedy}`;
  throw new InvalidRequest({ param, message });
};
