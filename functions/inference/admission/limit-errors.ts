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
  /** The field that names the owner, if the caller chose it. */
  param: string | null;
  /** The field that limits the answer; undefined if the route has none. */
  maxTokensField: string | undefined;
  refusal: LimiterRefusal;
  limits: RateLimits;
  tokens: number;
  holdNanos: bigint;
  headers: Record<string, string>;
}

const nounOf = (owner: Owner): string => (owner === 'user' ? 'end user' : owner);

const sentence = ({ owner, limits }: Refused, dimension: RateDimension): string => {
  const amount = {
    requests: `${limits.requestsPerMinute} requests per minute`,
    tokens: `${limits.tokensPerMinute} tokens per minute`,
    concurrency: `${limits.concurrency} concurrent requests`,
  }[dimension];
  return `The ${owner === 'key' ? '' : `${nounOf(owner)}'s `}limit of ${amount} has been reached`;
};

interface Reason {
  type: string;
  code?: string;
  message: string;
  headers: Record<string, string>;
}

class LimitReached extends ApiError {
  constructor({ param, headers }: Pick<Refused, 'param' | 'headers'>, reason: Reason) {
    super({ status: 429, code: 'rate_limit_exceeded', param, ...reason, headers: { ...headers, ...reason.headers } });
  }
}

class RateLimited extends LimitReached {
  constructor(refused: Refused, { dimension, retryAfterMs }: RateRefusal) {
    const headers = waitHeaders(retryAfterMs);
    const message = `${sentence(refused, dimension)}. Try again in ${headers['retry-after']} s.`;
    super(refused, { type: dimension, message, headers });
  }
}

// Waiting doesn't help, so clients must not retry.
class RequestExceedsLimit extends LimitReached {
  constructor(refused: Refused, dimension: RateDimension) {
    const { owner, limits, tokens, maxTokensField } = refused;
    const message =
      dimension === 'tokens'
        ? `This request needs up to ${tokens} tokens, but the ${nounOf(owner)}'s limit is ${limits.tokensPerMinute} tokens per minute. Shorten the ${maxTokensField ? `prompt or lower ${maxTokensField}` : 'request'}.`
        : `${sentence(refused, dimension)}. Ask ${owner === 'organization' ? 'your administrator' : 'an owner of your organization'} to raise it.`;
    super(refused, { type: dimension, message, headers: { 'retry-after': '60', 'x-should-retry': 'false' } });
  }
}

const BUDGETS: Record<BudgetPeriod, string> = { day: 'daily', month: 'monthly', total: 'total' };

const sourceOf = ({ owner }: Refused, { period }: MoneyRefusal): string =>
  `${period ? `${BUDGETS[period]} budget` : 'prepaid credit'} of this ${nounOf(owner)}`;

// Only the control plane knows the seller's currency.
const mostCostOf = ({ holdNanos }: Refused): string => `This request can cost up to ${dollarsOf(holdNanos)} in your billing currency`;

// A retry can help, unlike after InsufficientQuota.
class MoneyHeld extends LimitReached {
  constructor(refused: Refused, refusal: MoneyRefusal) {
    super(refused, {
      type: 'insufficient_quota',
      message: `${mostCostOf(refused)}, but the rest of the ${sourceOf(refused, refusal)} is reserved for requests in flight. Try again when they have finished.`,
      headers: waitHeaders(refusal.retryAfterMs),
    });
  }
}

// The form in which OpenAI sends it, so that clients don't retry.
class InsufficientQuota extends LimitReached {
  constructor(refused: Refused, refusal: MoneyRefusal) {
    const { maxTokensField } = refused;
    const remedy = refusal.dimension === 'credit' ? 'Add credit' : 'Raise the budget';
    super(refused, {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: `${mostCostOf(refused)}, which is more than what is left of the ${sourceOf(refused, refusal)}. ${remedy} or ${maxTokensField ? `lower ${maxTokensField}` : 'shorten the request'}.`,
      headers: { ...waitHeaders(refusal.retryAfterMs), 'x-should-retry': 'false' },
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
export class TooManyNewUsers extends LimitReached {
  constructor(most: number, retryAfterMs: number, param: string) {
    const headers = waitHeaders(retryAfterMs);
    const message = `The limit of ${most} new end users per minute has been reached for this API key. Try again in ${headers['retry-after']} s.`;
    super({ param, headers }, { type: 'requests', message, headers });
  }
}
