import * as z from 'zod';
import type { BudgetPeriod, Limits, UserLimits } from '../../../shared/admission/item/limits.ts';
import { Dollars, dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';

const requests_per_minute = z.int().min(0).max(1_000_000);
const tokens_per_minute = z.int().min(0).max(1_000_000_000);
const concurrency = z.int().min(0).max(10_000);
const budget = Dollars.nullable();

export const KeyLimits = z.strictObject({
  requests_per_minute: requests_per_minute.default(600),
  tokens_per_minute: tokens_per_minute.default(200_000),
  concurrency: concurrency.default(32).meta({ description: 'The maximum number of concurrent requests.' }),
});
export const KeyBudgets = z.strictObject({ day: budget.default(null), month: budget.default(null), total: budget.default(null) });

/** Changes of a key's limits: absent limits stay, null removes a budget. */
export const KeyLimitsUpdate = z.strictObject({ requests_per_minute, tokens_per_minute, concurrency }).partial();
export const KeyBudgetsUpdate = z.strictObject({ day: budget, month: budget, total: budget }).partial();

/** The limits of each end user of a key. Null: no such limit. */
export const PerUserLimits = z
  .strictObject({
    requests_per_minute: requests_per_minute.nullable().default(null),
    tokens_per_minute: tokens_per_minute.nullable().default(null),
    concurrency: concurrency.nullable().default(null).meta({ description: 'The maximum number of concurrent requests.' }),
    monthly_budget: budget.default(null).meta({ description: 'The most that a user can spend per month (UTC), in dollars.' }),
  })
  .refine((limits) => Object.values(limits).some((limit) => limit !== null), 'expected at least one limit');
export type PerUserLimits = z.output<typeof PerUserLimits>;

/** Converts the wire limits of the end users of a key. */
export const toUserLimits = (wire: PerUserLimits | null): UserLimits | null => {
  if (wire === null) return null;
  const monthlyBudgetNanos = wire.monthly_budget === null ? undefined : nanosOf(wire.monthly_budget);
  return {
    ...(wire.requests_per_minute !== null && { requestsPerMinute: wire.requests_per_minute }),
    ...(wire.tokens_per_minute !== null && { tokensPerMinute: wire.tokens_per_minute }),
    ...(wire.concurrency !== null && { concurrency: wire.concurrency }),
    ...(monthlyBudgetNanos !== undefined && { monthlyBudgetNanos }),
  };
};

/**
 * The default concurrency of an organization, unless a deployer sets another: a quarter of what `inference` reserves by
 * default.
 */
export const DEFAULT_CONCURRENCY = 100;

/**
 * The limits that all keys of an organization share, as an admin sets them. Null means no limit; concurrency is always
 * limited.
 */
export const OrganizationLimits = z.strictObject({
  requests_per_minute: requests_per_minute.nullable().default(null),
  tokens_per_minute: tokens_per_minute.nullable().default(null),
  concurrency: concurrency.optional().meta({
    description:
      'The maximum number of concurrent requests, on both hosts together. Default: the share that the platform gives each organization, which is 100 unless its deployer has set another number.',
  }),
  month_budget: budget.default(null).meta({
    description: 'The most that it can spend per month (UTC), counted from when it is set.',
  }),
  prepaid: z.boolean().default(false).meta({ description: 'If true, requests are paid from prepaid credit.' }),
});
export type OrganizationLimits = z.output<typeof OrganizationLimits>;

/** The limits that an organization has. */
export const AppliedLimits = z.object({
  ...OrganizationLimits.shape,
  concurrency: concurrency.meta({ description: 'The maximum number of concurrent requests, on both hosts together.' }),
});
export type AppliedLimits = z.output<typeof AppliedLimits>;

interface ApiKeyLimits {
  limits: z.output<typeof KeyLimits>;
  budgets: z.output<typeof KeyBudgets>;
}

/** Converts budgets from dollars. */
export const toBudgets = (wire: { [Period in BudgetPeriod]?: string | null }): Limits['budgets'] => {
  const budgets: Limits['budgets'] = {};
  for (const [period, dollars] of Object.entries(wire)) {
    const nanos = dollars === null ? undefined : nanosOf(dollars);
    if (nanos !== undefined) budgets[period as BudgetPeriod] = nanos;
  }
  return budgets;
};

/** Converts the wire limits of an API key or an organization. */
export const toLimits = (wire: ApiKeyLimits | AppliedLimits): Limits => {
  const isKey = 'limits' in wire;
  const rates = isKey ? wire.limits : wire;
  return {
    requestsPerMinute: rates.requests_per_minute ?? Number.POSITIVE_INFINITY,
    tokensPerMinute: rates.tokens_per_minute ?? Number.POSITIVE_INFINITY,
    concurrency: rates.concurrency,
    budgets: toBudgets(isKey ? wire.budgets : { month: wire.month_budget }),
    isPrepaid: !isKey && wire.prepaid,
  };
};

const orNull = (limit: number): number | null => (Number.isFinite(limit) ? limit : null);

/** Converts an organization's limits to the wire. */
export const toAppliedLimits = (limits: Limits): AppliedLimits => ({
  requests_per_minute: orNull(limits.requestsPerMinute),
  tokens_per_minute: orNull(limits.tokensPerMinute),
  concurrency: orNull(limits.concurrency) ?? DEFAULT_CONCURRENCY,
  month_budget: limits.budgets.month === undefined ? null : dollarsOf(limits.budgets.month),
  prepaid: limits.isPrepaid,
});
