import { InvalidRequest } from '../../../shared/http/errors.ts';

/**
 * The maximum number of log probabilities in memory: each is many times the size of its text. With this many in one
 * response or line, a function stays below 200 MB.
 */
export const MAX_LOGPROBS = 70_000;

interface LogprobsSize {
  // The maximum number of tokens with log probabilities.
  tokens: number;
  // The number of most likely tokens at each position, in addition to the chosen one.
  top: number;
  // The calculation of the count, with the caller's field names.
  formula: string;
  // The subject of the limit, and the remedy, for the message.
  holder: string;
  remedy: string;
  // The field that requests them.
  param: string;
  most?: number;
}

/** @throws InvalidRequest if a response could have more log probabilities than fit into memory */
export const checkLogprobsSize = ({ tokens, top, formula, holder, remedy, param, most = MAX_LOGPROBS }: LogprobsSize): void => {
  const count = tokens * (top + 1);
  if (count <= most) return;
  const message = `This request can return up to ${count} log probabilities (${formula}), but ${holder} can hold at most ${most}. ${remedy}`;
  throw new InvalidRequest({ param, message });
};
