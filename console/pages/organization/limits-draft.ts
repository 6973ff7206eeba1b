import type { ReplyBody, RequestBody } from '../../client/routes.ts';
import { faultOfMoney } from '../../design/format/amounts.ts';
import { faultsOfCounts } from '../../design/format/limits.ts';

export type Organization = ReplyBody<'GET /v1/organizations/{id}'>;
type Limits = RequestBody<'PUT /v1/organizations/{id}/limits'>;

/**
 * The limits of an organization as their form edits them. An empty text is no limit or, for concurrency, the default.
 */
export type LimitsDraft = {
  requestsPerMinute: string;
  tokensPerMinute: string;
  concurrency: string;
  /** Dollars. */
  monthBudget: string;
  prepaid: boolean;
};

export const LIMITS_LABELS = {
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent requests',
  monthBudget: 'Budget per month',
  prepaid: 'Pays from prepaid credit',
} as const satisfies Record<keyof LimitsDraft, string>;

export const NO_LIMITS: LimitsDraft = { requestsPerMinute: '', tokensPerMinute: '', concurrency: '', monthBudget: '', prepaid: false };

const textOf = (limit: number | null | undefined): string => (limit === null || limit === undefined ? '' : String(limit));

/** The limits of an organization as their form edits them. */
export const draftOfLimits = ({ limits, has_default_concurrency }: Organization): LimitsDraft => ({
  requestsPerMinute: textOf(limits?.requests_per_minute),
  tokensPerMinute: textOf(limits?.tokens_per_minute),
  concurrency: has_default_concurrency ? '' : textOf(limits?.concurrency),
  monthBudget: limits?.month_budget ?? '',
  prepaid: limits?.prepaid ?? false,
});

const RATES = { requests_per_minute: 'requestsPerMinute', tokens_per_minute: 'tokensPerMinute', concurrency: 'concurrency' } as const;

/** Why fields can't be sent. */
export const faultsOfLimits = (draft: LimitsDraft): Partial<Record<keyof LimitsDraft, string>> => {
  const budgetFault = faultOfMoney(draft.monthBudget, '500');
  return {
    ...faultsOfCounts(draft, RATES),
    ...(budgetFault && { monthBudget: budgetFault }),
  };
};

const numberIn = (text: string): number | null => (text === '' ? null : Number(text));

/** The body that sets limits, all at once. */
export const limitsOf = ({ requestsPerMinute, tokensPerMinute, concurrency, monthBudget, prepaid }: LimitsDraft): Limits => ({
  requests_per_minute: numberIn(requestsPerMinute),
  tokens_per_minute: numberIn(tokensPerMinute),
  ...(concurrency !== '' && { concurrency: Number(concurrency) }),
  month_budget: monthBudget === '' ? null : monthBudget,
  prepaid,
});

/** True if two drafts set the same limits. */
export const areSameLimits = (one: LimitsDraft, other: LimitsDraft): boolean =>
  JSON.stringify(limitsOf(one)) === JSON.stringify(limitsOf(other));
