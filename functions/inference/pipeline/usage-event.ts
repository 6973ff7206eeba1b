import { type KeyItem, projectOf } from '../../../shared/admission/item/key-item.ts';
import { inFlightOf, type LimiterItem, rateLimitsOf } from '../../../shared/admission/item/limiter-item.ts';
import { type ApiEvent, headerOf } from '../../../shared/http/api-event.ts';
import { toApiError } from '../../../shared/http/errors.ts';
import type { Target } from '../../../shared/models/model.ts';
import { costNanos } from '../../../shared/prices/price.ts';
import type { FailedAttempt, LimiterState, Outcome, UsageEvent } from '../../../shared/usage/event.ts';
import type { StepEnds } from '../../../shared/usage/phases.ts';
import type { Admission } from '../admission/admit.ts';
import type { Candidate } from '../fallback/candidate.ts';
import type { SplitFacts } from '../fallback/find-models.ts';
import { isLogged } from '../payload-log/log-header.ts';
import { ContextLengthExceeded } from './context-length-exceeded.ts';
import type { InferenceRequest } from './inference-route.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { Tally, TokenCount } from './tally.ts';

/** An admitted request, as its usage event records it. */
export interface RequestFacts {
  event: ApiEvent;
  /** The end of its parsing, in ms since the epoch. */
  parsedAtMs: number;
  /** The route's path. */
  path: string;
  request: InferenceRequest;
  /** The alias by which the request names its model, if it does. */
  alias: string | undefined;
  split: SplitFacts | undefined;
  admission: Admission;
  /** The end user, where the host requires one. */
  userId: string | undefined;
}

/** The candidate that answers or was tried last, its target, and the ends of the steps in ms since the epoch. */
export interface RequestProgress {
  candidate: Candidate<PreparedRequest>;
  /** The candidates before it. */
  attempts: readonly FailedAttempt[];
  target: Target;
  tries: number;
  admittedAtMs: number;
  fittedAtMs: number | undefined;
  invokedAtMs: number | undefined;
  acceptedAtMs: number | undefined;
  answeredAtMs: number | undefined;
}

/**
 * A failure as the caller sees it. Its message is included only if all of it is ours: others can have words of a
 * runtime, or of the request.
 * @param error undefined if there is none
 */
export const errorFacts = (error: unknown): Pick<UsageEvent, 'error_code' | 'error_status' | 'error_message'> => {
  if (error === undefined) return {};
  const { code, status, message } = toApiError(error);
  const isOurs = status >= 500 || error instanceof ContextLengthExceeded;
  return { ...(code && { error_code: code }), error_status: status, ...(isOurs && { error_message: message }) };
};

// An infinite limit is left out, because no database stores infinity.
const limiterState = ({ headers }: Admission, item: LimiterItem): LimiterState => {
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
 * The end of each step, in ms from the arrival of the request. A clock that was set back gives 0.
 * @param endsAtMs in the order of `STEPS`, in ms since the epoch; undefined: the step did not end
 */
export const stepEnds = ({ receivedAtMs }: ApiEvent, endsAtMs: readonly (number | undefined)[]): StepEnds =>
  endsAtMs.map((ms) => (ms === undefined ? null : Math.max(0, ms - receivedAtMs)));

// `version-trace id-parent id-flags`; ids must not be zero, and `ff` is no version. Versions after `00` can continue
// with more fields.
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=-|$)/;
const TRACEPARENT_LENGTH = 55;

/**
 * The caller's `traceparent` in version 00 (https://www.w3.org/TR/trace-context/); undefined if it is missing or
 * invalid.
 */
export const traceparentOf = (event: ApiEvent): string | undefined => {
  const header = headerOf(event, 'traceparent');
  const [, version] = (header && TRACEPARENT.exec(header)) || [];
  if (!header || !version || (version === '00' && header.length !== TRACEPARENT_LENGTH)) return undefined;
  return `00${header.slice(2, TRACEPARENT_LENGTH)}`;
};

type CallerFacts = Pick<UsageEvent, 'key_id' | 'org_id' | 'project_id' | 'admitted_at' | 'limiter' | 'traceparent'>;

/** The caller of an admitted request: its key, the key's limiter after the admission, and its trace. */
export const callerFacts = (event: ApiEvent, admission: Admission): CallerFacts => {
  const { item } = admission.reservations[0] as { item: LimiterItem };
  const project = projectOf(item as KeyItem);
  const traceparent = traceparentOf(event);
  return {
    key_id: admission.keyId,
    org_id: admission.organization,
    ...(project && { project_id: project }),
    admitted_at: admission.admittedAtMs,
    limiter: limiterState(admission, item),
    ...(traceparent && { traceparent }),
  };
};

// If nothing was delivered, nothing is charged.
const NOTHING: TokenCount = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, source: 'estimated', isOvercounted: false };

// A runtime that counts with every chunk counts the prompt before anything is delivered.
const billedCount = ({ request }: RequestFacts, tally: Tally, outcome: Outcome): TokenCount => {
  const isDelivered = request.stream ? tally.firstTokenAtMs() !== undefined : outcome === 'timed_out' && tally.hasOutput();
  return outcome === 'completed' || isDelivered ? tally.count() : NOTHING;
};

// A request is never charged more than was held for it, so that a budget or credit is never exceeded.
const charge = (nanos: bigint, { holdNanos, isPrepaid }: Admission): Pick<UsageEvent, 'cost_nanos' | 'is_capped' | 'is_prepaid'> => {
  const isCapped = holdNanos !== undefined && nanos > holdNanos;
  return {
    cost_nanos: isCapped ? holdNanos : nanos,
    ...(isCapped && { is_capped: true as const }),
    ...(isPrepaid && { is_prepaid: true as const }),
  };
};

/** The milliseconds between two times; null if one of them is not known. */
export const between = (fromMs: number | undefined, toMs: number | undefined): number | null =>
  fromMs === undefined || toMs === undefined ? null : toMs - fromMs;

/** The usage event of a request that ended at `nowMs`. @param error the caller's error */
export const toUsageEvent = (
  facts: RequestFacts,
  progress: RequestProgress,
  tally: Tally,
  { outcome, error, nowMs }: { outcome: Outcome; error: Error | undefined; nowMs: number },
): UsageEvent => {
  const { event, request, alias, admission } = facts;
  const { candidate, attempts, target, tries, admittedAtMs, fittedAtMs, invokedAtMs, acceptedAtMs, answeredAtMs } = progress;
  const { ignoredFields } = candidate.prepared;
  const { promptTokens, cachedTokens, completionTokens, source, isOvercounted } = billedCount(facts, tally, outcome);
  return {
    request_id: admission.requestId,
    ...callerFacts(event, admission),
    model: candidate.model.name,
    ...(alias && { alias }),
    ...facts.split,
    ...(candidate.isShared && { is_shared: true as const }),
    ...(candidate.index > 0 && { fallback: candidate.index }),
    ...(attempts.length > 0 && { attempts: [...attempts] }),
    route: facts.path,
    stream: request.stream === true,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    completion_tokens: completionTokens,
    source,
    ...(isOvercounted && { is_overcounted: true as const }),
    outcome,
    ...errorFacts(error),
    finish_reason: tally.finishReason() ?? null,
    time_to_first_token_ms: between(event.receivedAtMs, tally.firstTokenAtMs()),
    duration_ms: nowMs - event.receivedAtMs,
    step_ends_ms: stepEnds(event, [facts.parsedAtMs, admittedAtMs, fittedAtMs, invokedAtMs, acceptedAtMs, answeredAtMs]),
    ...(tries > 1 && { tries }),
    ...(ignoredFields.length > 0 && { ignored: ignoredFields }),
    ...charge(costNanos(candidate.price, { promptTokens, cachedTokens, completionTokens }), admission),
    price_version: candidate.price.version,
    endpoint: target.endpoint,
    ...(target.component && { component: target.component }),
    ...(isLogged(admission, event) && { is_payload_logged: true as const }),
    ...(request.user && { user: request.user.toWellFormed() }),
    ...(facts.userId !== undefined && { user_id: facts.userId }),
    ...(request.metadata && { metadata: request.metadata }),
  };
};
