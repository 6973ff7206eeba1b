export type Period = 'day' | 'month' | 'total';

/** The most requests and tokens a minute, and requests in flight. Infinity: no such limit. */
export interface RateLimits {
  requestsPerMinute: number;
  tokensPerMinute: number;
  concurrency: number;
}

/** What an API key, one shard of it, or an organization is limited to. */
export interface Limits extends RateLimits {
  /** Nano-dollars that may be spent in a day, in a month (both UTC) and in all; absent: no such budget. */
  budgets: Partial<Record<Period, bigint>>;
  /** Whether requests are paid from credit that was granted before. */
  isPrepaid: boolean;
}
