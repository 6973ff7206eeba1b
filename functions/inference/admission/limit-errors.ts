import type { BudgetPeriod, RateLimits } from '../../../shared/admission/item/limits.ts';
import { isMoneyRefusal, type LimiterRefusal } from '../../../shared/admission/item/refusal.ts';
import type { RateDimension, RateRefusal } from '../../../shared/admission/item/sliding-window.ts';
import type { MoneyRefusal } from '../../../shared/admission/item/spending.ts';
import { ApiError } from '../../../shared/http/errors.ts';
import { waitHeaders } from '../../../shared/http/wait-headers.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';

/** The owner of the limit that rejected a request. */
export type Owner = 'key' | 'user' | 'project' | 'organization';

export interface Refused {
  owner: Owner;
  refusal: LimiterRefusal;
  limits: RateLimits;
  tokens: number;
  holdNanos: bigint;
  headers: Record<string, string>;
}

const NOUNS: Record<Owner, string> = { key: 'key', user: 'end user', project: 'project', organization: 'organization' };

// The field that names the owner of the limit, if the caller chose it.
const paramOf = (owner: Owner): string | null => (owner === 'user' ? 'user' : null);

const sentence = (owner: Owner, dimension: RateDimension, limits: RateLimits): string => {
  const limit = owner === 'key' ? 'The limit of' : `The ${NOUNS[owner]}'s limit of`;
  return {
    requests: `${limit} ${limits.requestsPerMinute} requests per minute has been reached`,
    tokens: `${limit} ${limits.tokensPerMinute} tokens per minute has been reached`,
    concurrency: `${limit} ${limits.concurrency} concurrent requests has been reached`,
  }[dimension];
};

class RateLimited extends ApiError {
  constructor({ owner, limits, headers }: Refused, { dimension, retryAfterMs }: RateRefusal) {
    const wait = waitHeaders(retryAfterMs);
    super({
      status: 429,
      type: dimension,
      code: 'rate_limit_exceeded',
      param: paramOf(owner),
      message: `${sentence(owner, dimension, limits)}. Try again in ${wait['retry-after']} s.`,
      headers: { ...headers, ...wait },
    });
  }
}

// Waiting doesn't help, so clients must not retry.
class RequestExceedsLimit extends ApiError {
  constructor({ owner, limits, tokens, headers }: Refused, dimension: RateDimension) {
    const message =
      dimension === 'tokens'
        ? `This request needs up to ${tokens} tokens (prompt and max_tokens), but the ${NOUNS[owner]}'s limit is ${limits.tokensPerMinute} tokens per minute. Shorten the prompt or lower max_tokens.`
        : `${sentence(owner, dimension, limits)}. Ask ${owner === 'organization' ? 'your administrator' : 'an owner of your organization'} to raise it.`;
    super({
      status: 429,
      type: dimension,
      code: 'rate_limit_exceeded',
      param: paramOf(owner),
      message,
      headers: { ...headers, 'retry-after': '60', 'x-should-retry': 'false' },
    });
  }
}

const BUDGETS: Record<BudgetPeriod, string> = { day: 'daily budget', month: 'monthly budget', total: 'total budget' };

const sourceOf = (owner: Owner, { dimension, period }: MoneyRefusal): string =>
  dimension === 'credit' || !period ? `prepaid credit of this ${NOUNS[owner]}` : `${BUDGETS[period]} of this ${NOUNS[owner]}`;

// A retry can help, unlike after InsufficientQuota.
class MoneyHeld extends ApiError {
  constructor({ owner, holdNanos, headers }: Refused, refusal: MoneyRefusal) {
    super({
      status: 429,
      type: 'insufficient_quota',
      code: 'rate_limit_exceeded',
      param: paramOf(owner),
      message: `This request can cost up to $${dollarsOf(holdNanos)}, but the rest of the ${sourceOf(owner, refusal)} is reserved for requests in flight. Try again when they have finished.`,
      headers: { ...headers, ...waitHeaders(refusal.retryAfterMs) },
    });
  }
}

// The form in which OpenAI sends it, so that clients don't retry.
class InsufficientQuota extends ApiError {
  constructor({ owner, holdNanos, headers }: Refused, refusal: MoneyRefusal) {
    const remedy = refusal.dimension === 'credit' ? 'Add credit' : 'Raise the budget';
    super({
      status: 429,
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      param: paramOf(owner),
      message: `This request can cost up to $${dollarsOf(holdNanos)}, which is more than what is left of the ${sourceOf(owner, refusal)}. ${remedy} or lower max_tokens.`,
      headers: { ...headers, ...waitHeaders(refusal.retryAfterMs), 'x-should-retry': 'false' },
    });
  }
}

/** Converts a refusal to an error. */
export const refusedBy = (refused: Refused): ApiError => {
  const { refusal } = refused;
  if (isMoneyRefusal(refusal)) return refusal.isHeld ? new MoneyHeld(refused, refusal) : new InsufficientQuota(refused, refusal);
  return Number.isFinite(refusal.retryAfterMs) ? new RateLimited(refused, refusal) : new RequestExceedsLimit(refused, refusal.dimension);
};

/** 429: the key has limits for each end user, and gets too many users that it has not seen before. */
export class TooManyNewUsers extends ApiError {
  constructor(most: number, retryAfterMs: number) {
    const wait = waitHeaders(retryAfterMs);
    super({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      param: 'user',
      message: `The limit of ${most} new end users per minute has been reached for this API key. Try again in ${wait['retry-after']} s.`,
      headers: wait,
    });
  }
}
