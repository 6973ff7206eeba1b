import { utcSeconds } from './times.ts';
import { DAY_S, HOUR_S } from './units.ts';

// Ranges of time that end now, and `custom`, which has a beginning and an end of its own.
const LENGTHS_S = { '1h': HOUR_S, '24h': DAY_S, '7d': 7 * DAY_S, '30d': 30 * DAY_S, '90d': 90 * DAY_S } as const;
export type RangeName = keyof typeof LENGTHS_S | 'month' | 'last_month' | 'custom';

/** The texts for ranges. */
export const RANGE_LABELS: Readonly<Record<RangeName, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  month: 'This month',
  last_month: 'Last month',
  custom: 'Custom',
};

/** A range of time in Unix seconds. `endS` undefined: until now. */
export interface Range {
  startS?: number | undefined;
  endS?: number | undefined;
}

const monthStart = (nowS: number, monthsAgo: number): number => {
  const now = new Date(nowS * 1_000);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo) / 1_000;
};

/**
 * The times of a range. Months are those of UTC.
 * @param from the beginning of a custom range: a date, or a date with a time, in UTC
 * @param nowS Unix seconds
 */
export const rangeOf = (name: RangeName, { from, to }: { from: string; to: string }, nowS: number): Range => {
  // Without a zone, they are in UTC, as bills and logs are.
  if (name === 'custom') return { startS: utcSeconds(from), endS: utcSeconds(to) };
  if (name === 'month') return { startS: monthStart(nowS, 0) };
  if (name === 'last_month') return { startS: monthStart(nowS, 1), endS: monthStart(nowS, 0) };
  return { startS: nowS - LENGTHS_S[name] };
};

interface CustomRange {
  from: string;
  to: string;
}

const boundsOf = (name: RangeName, { from, to }: CustomRange): Range =>
  name === 'custom' ? { startS: utcSeconds(from), endS: utcSeconds(to) } : {};

/**
 * The fault of a custom range that the API could not read, or that has not begun, and what to change; undefined: there
 * is none.
 */
export const faultOfRange = (name: RangeName, custom: CustomRange, nowS: number): string | undefined => {
  const { startS = 0, endS } = boundsOf(name, custom);
  if (endS !== undefined && endS <= startS) return 'Choose an end that is after the start';
  return startS >= nowS ? 'Choose a start in the past' : undefined;
};

/** The same for a range of days, of which the last one counts. @param mostDays how many the API reads at once */
export const faultOfDays = (
  name: RangeName,
  custom: CustomRange,
  nowS: number,
  mostDays = Number.POSITIVE_INFINITY,
): string | undefined => {
  const { startS, endS } = boundsOf(name, custom);
  if (startS === undefined) return undefined;
  if (endS !== undefined && endS < startS) return 'Choose a last day that is on or after the first day';
  if (startS > nowS) return 'Choose a first day that is not in the future';
  return endS !== undefined && endS - startS >= mostDays * DAY_S ? `Choose at most ${mostDays} days` : undefined;
};

/** The range that an address names. @param names the first is that of an address without one, or with an unknown one */
export const rangeNamed = (text: string, names: readonly [RangeName, ...RangeName[]]): RangeName =>
  names.find((name) => name === text) ?? names[0];
