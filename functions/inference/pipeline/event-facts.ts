import { inFlightOf, type LimiterItem, rateLimitsOf } from '../../../shared/admission/item/limiter-item.ts';
import type { ApiEvent } from '../../../shared/http/api-event.ts';
import { toApiError } from '../../../shared/http/errors.ts';
import type { LimiterState, UsageEvent } from '../../../shared/usage/event.ts';
import type { StepEnds } from '../../../shared/usage/phases.ts';
import type { Admission } from '../admission/admit.ts';
import { ContextLengthExceeded } from './context-length-exceeded.ts';

/**
 * A failure as the caller sees it. The message is kept only if it is known to be all ours: others can have the words of a runtime, or of the request.
 * @param error undefined: there is none
 */
export const errorFacts = (error: unknown): Pick<UsageEvent, 'error_code' | 'error_status' | 'error_message'> => {
  if (error === undefined) return {};
  const { code, status, message } = toApiError(error);
  const isOurs = status >= 500 || error instanceof ContextLengthExceeded;
  return { ...(code && { error_code: code }), error_status: status, ...(isOurs && { error_message: message }) };
};

/** What the key's limiter had left after the admission. A limit that does not exist is infinite, which no database stores. */
export const limiterState = ({ reservations, headers }: Admission): LimiterState => {
  const { item } = reservations[0] as { item: LimiterItem };
  const { concurrency } = rateLimitsOf(item);
  const requests = Number(headers['x-ratelimit-remaining-requests']);
  const tokens = Number(headers['x-ratelimit-remaining-tokens']);
  return {
    in_flight: inFlightOf(item),
    ...(Number.isFinite(concurrency) && { concurrency }),
    ...(Number.isFinite(requests) && { requests_left: requests }),
    ...(Number.isFinite(tokens) && { tokens_left: tokens }),
  };
};

/**
 * When each step ended, in ms from the arrival of the request. A clock that was set back gives 0.
 * @param endsAtMs in the order of `STEPS`, in ms since the epoch; undefined: the step did not end
 */
export const stepEnds = ({ receivedAtMs }: ApiEvent, endsAtMs: readonly (number | undefined)[]): StepEnds =>
  endsAtMs.map((ms) => (ms === undefined ? null : Math.max(0, ms - receivedAtMs)));
