import type { SplitSide } from '../models/split.ts';
import { DAY_MS, DAY_SECONDS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';
import type { Totals } from './totals.ts';

/**
 * The spans for which an organization's totals are stored. Minutes are kept for 7 days, ten minutes and hours for 90,
 * days for good.
 */
export const SPANS = ['minute', 'ten_minutes', 'hour', 'day'] as const;
export type TotalsSpan = (typeof SPANS)[number];
export const SPAN_MS: Readonly<Record<TotalsSpan, number>> = {
  minute: MINUTE_MS,
  ten_minutes: 10 * MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
};

/** The days for which totals are kept, counted from the end of their span. Totals of days are kept for good. */
export const RETENTION_DAYS: Readonly<Record<Exclude<TotalsSpan, 'day'>, number>> = { minute: 7, ten_minutes: 90, hour: 90 };

/**
 * When totals expire, in seconds since the epoch. It follows from the span alone, so that writing them again later
 * changes nothing.
 */
export const expiresAt = (span: Exclude<TotalsSpan, 'day'>, startMs: number): number =>
  (startMs + SPAN_MS[span]) / SECOND_MS + RETENTION_DAYS[span] * DAY_SECONDS;

/** Returns true if totals of this span have expired. DynamoDB can take some days to remove them. */
export const isExpired = (span: TotalsSpan, startMs: number, nowMs: number): boolean =>
  span !== 'day' && expiresAt(span, startMs) * SECOND_MS <= nowMs;

/**
 * In the detail `user`, at most this many users of an organization have totals of their own in a span; all others
 * count as `(other)`.
 */
export const MAX_USERS = 250;
export const OTHER_USERS = '(other)';

/**
 * The dimensions by which totals are stored. `model`: model, route and deployment; `key`: API key and project as well;
 * `user`: end user as well. Each has the same sums, so a query reads the one with the fewest rows that has all it
 * groups and filters by.
 */
export const DETAILS = ['model', 'key', 'user'] as const;
export type Detail = (typeof DETAILS)[number];

/** The totals of an organization's events in a span, for one combination of their dimensions. */
export interface OrganizationTotals {
  organization: string;
  /** The start of the span, in ms since the epoch (UTC). */
  startMs: number;
  /** Null for events without it. */
  model: string | null;
  route: string | null;
  /** The id of the deployment that served it; null for shared models that no deployment serves. */
  deployment: string | null;
  /** Only of requests to an alias with a split: the side on which they were. */
  split?: { alias: string; side: SplitSide };
  /** Only in the details `key` and `user`. */
  keyId?: string;
  /** Only in these details: the project of the key when the requests were admitted; absent: none. */
  projectId?: string;
  /**
   * Only in the detail `user`: the end user (`X-User-Id`, or else the request's `user`); `(other)` for those beyond
   * the limit of a span; null without one.
   */
  userId?: string | null;
  totals: Totals;
}

/** A query of an organization's totals: spans that start in [fromMs, toMs), in the order of time. */
export interface TotalsQuery {
  organization: string;
  span: TotalsSpan;
  detail: Detail;
  fromMs: number;
  toMs: number;
}
