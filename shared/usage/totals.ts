import { type Counts, count, mergeCounts } from './counts.ts';
import type { Outcome, UsageEvent } from './event.ts';
import { addLatency, type Histogram, mergeHistograms, noLatencies } from './histogram.ts';
import { STEPS } from './phases.ts';

/**
 * The sums of a key's events for one model. The result does not depend on the order in which events and totals are
 * added.
 */
export interface Totals {
  /** The number of events: one per request, and one each time a request was rated again. */
  events: number;
  requests: number;
  /** Sums of tokens and money are bigints, because their size has no bound. */
  prompt_tokens: bigint;
  cached_tokens: bigint;
  completion_tokens: bigint;
  cost_nanos: bigint;
  /** The part of the cost that was paid from prepaid credit. */
  prepaid_nanos: bigint;
  /** Requests that were charged less than their tokens cost, because that was all that was held for them. */
  capped: number;
  /** Requests whose tokens the runtime did not report. */
  estimated: number;
  /** Requests that came to the model as a fallback, after another one had failed. 0 in totals of earlier versions. */
  fallbacks: number;
  outcomes: Counts<Outcome>;
  /** Requests by the error code that the caller received: at most 50 codes and `other`. */
  errors: Counts<string>;
  duration_ms: Histogram;
  time_to_first_token_ms: Histogram;
  /** The sum of all durations. This and the next three are 0 in totals of earlier versions. */
  duration_ms_sum: bigint;
  /** The time from the call of the model to the first token, of the same requests as the next two. */
  prompt_ms_sum: bigint;
  /**
   * The time from the first token to the end of the answer, of requests with a first token, and the tokens after the
   * first one that it took.
   */
  generation_ms_sum: bigint;
  generation_tokens: bigint;
}

/** These limits keep a row small. There are about 40 codes of at most 30 characters. */
export const MAX_ERROR_CODES = 50;
const MAX_CODE_CHARACTERS = 64;
export const OTHER_ERRORS = 'other';

export const noTotals = (): Totals => ({
  events: 0,
  requests: 0,
  prompt_tokens: 0n,
  cached_tokens: 0n,
  completion_tokens: 0n,
  cost_nanos: 0n,
  prepaid_nanos: 0n,
  capped: 0,
  estimated: 0,
  fallbacks: 0,
  outcomes: new Map(),
  errors: new Map(),
  duration_ms: noLatencies(),
  time_to_first_token_ms: noLatencies(),
  duration_ms_sum: 0n,
  prompt_ms_sum: 0n,
  generation_ms_sum: 0n,
  generation_tokens: 0n,
});

const INVOKED = STEPS.indexOf('invoked');
const ANSWERED = STEPS.indexOf('answered');

// A second event of a request, `<request id>#2`, contains the changes of a later rating.
const isRatedAgain = (event: UsageEvent): boolean => event.request_id.includes('#');

/**
 * Adds an event, in place because a bucket can have tens of thousands. An event that rates a request again only adds
 * tokens and money.
 */
export const addEvent = (totals: Totals, event: UsageEvent): void => {
  totals.events++;
  totals.prompt_tokens += BigInt(event.prompt_tokens);
  totals.cached_tokens += BigInt(event.cached_tokens);
  totals.completion_tokens += BigInt(event.completion_tokens);
  totals.cost_nanos += event.cost_nanos;
  if (event.is_prepaid) totals.prepaid_nanos += event.cost_nanos;
  if (isRatedAgain(event)) return;
  totals.requests++;
  if (event.is_capped) totals.capped++;
  if (event.source === 'estimated') totals.estimated++;
  if (event.fallback !== undefined) totals.fallbacks++;
  count(totals.outcomes, event.outcome);
  if (event.error_code !== undefined) {
    count(totals.errors, event.error_code.length > MAX_CODE_CHARACTERS ? OTHER_ERRORS : event.error_code);
    foldErrors(totals.errors);
  }
  addTimes(totals, event);
};

const addTimes = (totals: Totals, event: UsageEvent): void => {
  addLatency(totals.duration_ms, event.duration_ms);
  totals.duration_ms_sum += BigInt(event.duration_ms);
  const { time_to_first_token_ms: firstMs } = event;
  if (firstMs === null) return;
  addLatency(totals.time_to_first_token_ms, firstMs);
  if (event.completion_tokens === 0) return;
  const answeredMs = event.step_ends_ms?.[ANSWERED] ?? event.duration_ms;
  totals.prompt_ms_sum += BigInt(Math.max(firstMs - (event.step_ends_ms?.[INVOKED] ?? firstMs), 0));
  totals.generation_ms_sum += BigInt(Math.max(answeredMs - firstMs, 0));
  totals.generation_tokens += BigInt(event.completion_tokens - 1);
};

/** The sum of both totals. */
export const mergeTotals = (a: Totals, b: Totals): Totals => {
  const errors = mergeCounts(a.errors, b.errors);
  foldErrors(errors);
  return {
    events: a.events + b.events,
    requests: a.requests + b.requests,
    prompt_tokens: a.prompt_tokens + b.prompt_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    completion_tokens: a.completion_tokens + b.completion_tokens,
    cost_nanos: a.cost_nanos + b.cost_nanos,
    prepaid_nanos: a.prepaid_nanos + b.prepaid_nanos,
    capped: a.capped + b.capped,
    estimated: a.estimated + b.estimated,
    fallbacks: a.fallbacks + b.fallbacks,
    outcomes: mergeCounts(a.outcomes, b.outcomes),
    errors,
    duration_ms: mergeHistograms(a.duration_ms, b.duration_ms),
    time_to_first_token_ms: mergeHistograms(a.time_to_first_token_ms, b.time_to_first_token_ms),
    duration_ms_sum: a.duration_ms_sum + b.duration_ms_sum,
    prompt_ms_sum: a.prompt_ms_sum + b.prompt_ms_sum,
    generation_ms_sum: a.generation_ms_sum + b.generation_ms_sum,
    generation_tokens: a.generation_tokens + b.generation_tokens,
  };
};

// The choice of the first 50 codes in alphabetical order doesn't depend on the order of arrival, as "the first 50 seen"
// would. A code among the first 50 of all codes is among those of every part, so it never loses a count.
const foldErrors = (errors: Counts<string>): void => {
  if (errors.size <= MAX_ERROR_CODES) return;
  const codes = [...errors.keys()].filter((code) => code !== OTHER_ERRORS).sort();
  for (const code of codes.slice(MAX_ERROR_CODES)) {
    count(errors, OTHER_ERRORS, errors.get(code));
    errors.delete(code);
  }
};
