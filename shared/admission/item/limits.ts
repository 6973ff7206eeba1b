export type BudgetPeriod = 'day' | 'month' | 'total';

/** Limits on requests per minute, tokens per minute and requests in flight. Infinity: no limit. */
export interface RateLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrency: number;
}

/** The limits of an API key, one of its shards, or an organization. */
export interface Limits extends RateLimits {
  /** The most nano-dollars to spend per day, per month (both UTC) and in total; absent: no such budget. */
  budgets: Partial<Record<BudgetPeriod, bigint>>;
  /** Requests are paid from prepaid credit. */
  isPrepaid: boolean;
}

/** The limits of each end user of a key. Absent: no such limit. */
export interface UserLimits {
  requestsPerMinute?: number;
  tokensPerMinute?: number;
  concurrency?: number;
  /** The most nano-dollars to spend per month (UTC). */
  monthlyBudgetNanos?: bigint;
}
