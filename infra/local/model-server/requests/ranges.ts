import { isGreedy } from '../sampling/parameters.ts';
import { BadRequest } from './errors.ts';
import type { SharedFields } from './fields.ts';

const MOST_CHOICES = 128;
const MOST_STOPS = 4;
const MOST_LOGPROBS = 20;

/** Formats a float like Python, for vLLM's messages. */
const float = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

/** Throws `BadRequest` with the message unless `holds` is true. */
export const check = (holds: boolean, message: string): void => {
  if (!holds) throw new BadRequest(message);
};

const isWithin = (value: number, from: number, to: number): boolean => value >= from && value <= to;

/** Throws `BadRequest` with vLLM's message for the first value out of range, in vLLM's order. */
export const checkRanges = (body: SharedFields, { maxTokens, logprobs }: { maxTokens: number; logprobs: number }): void => {
  const { n, temperature, top_p: topP, top_k: topK, min_p: minP, min_tokens: minTokens, presence_penalty: presence } = body;
  const { frequency_penalty: frequency, repetition_penalty: repetition } = body;
  const stops = stopsOf(body);
  check((n ?? 1) >= 1, `n must be at least 1, got ${n}.`);
  check((n ?? 1) <= MOST_CHOICES, `n must be at most ${MOST_CHOICES}, got ${n}.`);
  check(isWithin(presence ?? 0, -2, 2), `presence_penalty must be in [-2, 2], got ${float(presence ?? 0)}.`);
  check(isWithin(frequency ?? 0, -2, 2), `frequency_penalty must be in [-2, 2], got ${float(frequency ?? 0)}.`);
  check((repetition ?? 1) > 0, `repetition_penalty must be greater than zero, got ${float(repetition ?? 1)}.`);
  check((temperature ?? 1) >= 0, `temperature must be non-negative, got ${float(temperature ?? 1)}.`);
  check((temperature ?? 1) <= 2, `temperature must be in [0, 2], got ${float(temperature ?? 1)}.`);
  check((topP ?? 1) > 0 && (topP ?? 1) <= 1, `top_p must be in (0, 1], got ${float(topP ?? 1)}.`);
  check((topK ?? 0) >= -1, `top_k must be 0 (disable), or at least 1, got ${topK}.`);
  check(isWithin(minP ?? 0, 0, 1), `min_p must be in [0, 1], got ${float(minP ?? 0)}.`);
  check(maxTokens >= 1, `max_tokens must be at least 1, got ${maxTokens}.`);
  check((minTokens ?? 0) >= 0, `min_tokens must be greater than or equal to 0, got ${minTokens}.`);
  check(!stops.includes(''), 'stop cannot contain an empty string.');
  check(stops.length <= MOST_STOPS, `stop must have at most ${MOST_STOPS} strings, got ${stops.length}.`);
  check(!body.bad_words?.includes(''), "bad_words cannot contain an empty string. Got bad_words=['']");
  check(!isGreedy(temperature ?? 1) || (n ?? 1) === 1, `n must be 1 when using greedy sampling, got ${n}.`);
  // -1 requests the whole vocabulary.
  const tooMany = logprobs === -1 || logprobs > MOST_LOGPROBS;
  check(!tooMany, `Requested sample logprobs of ${logprobs}, which is greater than max allowed: ${MOST_LOGPROBS}`);
  checkSluiceFields(body);
};

const checkSluiceFields = ({ typical_p: typicalP, mirostat_target: target, mirostat_lr: rate }: SharedFields): void => {
  check(isWithin(typicalP ?? 1, 0, 1), `typical_p must be in [0, 1], got ${float(typicalP ?? 1)}.`);
  check((target ?? 0) >= 0, `mirostat_target must be non-negative, got ${float(target ?? 0)}.`);
  check((rate ?? 0) >= 0, `mirostat_lr must be non-negative, got ${float(rate ?? 0)}.`);
};

/** Returns the stop strings; a request has one string or an array. */
export const stopsOf = ({ stop }: SharedFields): string[] => (typeof stop === 'string' ? [stop] : (stop ?? []));
