import * as z from 'zod';
import type { Limits } from '../../../shared/admission/limits.ts';
import { dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';
import { Dollars } from '../../../shared/prices/dollars-field.ts';

const RequestsPerMinute = z.int().min(0).max(1_000_000);
const TokensPerMinute = z.int().min(0).max(1_000_000_000);
const Concurrency = z.int().min(0).max(1_000);
const Budget = Dollars.nullable();

export const KeyLimits = z.strictObject({
  requests_per_minute: RequestsPerMinute.default(600),
  tokens_per_minute: TokensPerMinute.default(200_000),
  concurrency: Concurrency.default(32).meta({ description: 'The maximum number of concurrent requests.' }),
});

export const KeyBudgets = z.strictObject({ day: Budget.default(null), month: Budget.default(null), total: Budget.default(null) });

/** Changes of a key's rate limits; absent limits stay. */
export const KeyLimitsUpdate = z.strictObject({
  requests_per_minute: RequestsPerMinute.optional(),
  tokens_per_minute: TokensPerMinute.optional(),
  concurrency: Concurrency.optional(),
});

/** Changes of a key's budgets; absent budgets stay, null removes one. */
export const KeyBudgetsUpdate = z.strictObject({ day: Budget.optional(), month: Budget.optional(), total: Budget.optional() });

/** The limits that all keys of an organization share. Null means no limit; concurrency is always limited. */
export const OrganizationLimits = z.strictObject({
  requests_per_minute: RequestsPerMinute.nullable().default(null),
  tokens_per_minute: TokensPerMinute.nullable().default(null),
  concurrency: Concurrency.default(1_000),
  month_budget: Budget.default(null).meta({
    description: 'The most that it can spend per month (UTC), counted from when it is set.',
  }),
  prepaid: z.boolean().default(false).meta({ description: 'If true, requests are paid from prepaid credit.' }),
});
export type OrganizationLimits = z.output<typeof OrganizationLimits>;

interface WireKey {
  limits: z.output<typeof KeyLimits>;
  budgets: z.output<typeof KeyBudgets>;
}

/** Converts the wire limits of an API key or an organization. */
export const toLimits = (wire: WireKey | OrganizationLimits): Limits => {
  const isKey = 'limits' in wire;
  const { requests_per_minute, tokens_per_minute, concurrency } = isKey ? wire.limits : wire;
  const budgets: Limits['budgets'] = {};
  for (const [period, dollars] of Object.entries(isKey ? wire.budgets : { month: wire.month_budget })) {
    const nanos = dollars === null ? undefined : nanosOf(dollars);
    if (nanos !== undefined) budgets[period as keyof typeof budgets] = nanos;
  }
  return {
    requestsPerMinute: requests_per_minute ?? Number.POSITIVE_INFINITY,
    tokensPerMinute: tokens_per_minute ?? Number.POSITIVE_INFINITY,
    concurrency,
    budgets,
    isPrepaid: !isKey && wire.prepaid,
  };
};

const orNull = (limit: number): number | null => (Number.isFinite(limit) ? limit : null);

export const toOrganizationLimits = ({
  requestsPerMinute,
  tokensPerMinute,
  concurrency,
  budgets,
  isPrepaid,
}: Limits): OrganizationLimits => ({
  requests_per_minute: orNull(requestsPerMinute),
  tokens_per_minute: orNull(tokensPerMinute),
  concurrency: orNull(concurrency) ?? OrganizationLimits.parse({}).concurrency,
  month_budget: budgets.month === undefined ? null : dollarsOf(budgets.month),
  prepaid: isPrepaid,
});
