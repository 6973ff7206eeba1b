import { isDeepStrictEqual } from 'node:util';
import { type ScheduleWindow, WEEKDAYS } from '../../../../shared/deployments/schedule.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { Settings } from './candidates.ts';
import type { Period } from './history.ts';
import type { Option } from './options.ts';

/** A change of settings, and what it brings in 30 days. */
export interface Suggestion {
  sentence: string;
  settings: Settings;
  /** Negative: it costs more. */
  savedNanos: bigint;
  coldStarts: number;
  waitP95Ms: number;
}

const MONTH_DAYS = 30;
// Below this, a change is not worth anybody's time: a dollar a month.
const LEAST_SAVING_NANOS = 1_000_000_000n;
// A saving may not make the slowest of 20 requests wait longer than this, nor more than one request in 100 wait.
const MOST_P95_MS = SECOND_MS;
const MOST_WAITING_SHARE = 0.01;
// Callers wait less for at most this much more, in percent.
const MOST_MORE_PERCENT = 5n;
const NANOS_A_CENT = 10_000_000n;

const wholeDays = ({ fromMs, toMs }: Period): number => Math.round((toMs - fromMs) / DAY_MS);

const aMonth = (count: number, range: Period): number => Math.round((count * MONTH_DAYS) / wholeDays(range));

// Rounded towards zero, so that no suggestion promises too much.
const nanosAMonth = (nanos: bigint, range: Period): bigint => (nanos * BigInt(MONTH_DAYS)) / BigInt(wholeDays(range));

const minutesText = (seconds: number): string => {
  const minutes = (seconds * SECOND_MS) / MINUTE_MS;
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
};

const idleText = (before: number | null, after: number | null): string => {
  if (after === null) return `never sleep, rather than after ${minutesText(before ?? 0)} without a request`;
  return `sleep after ${minutesText(after)} without a request, rather than ${before === null ? 'never' : `after ${minutesText(before)}`}`;
};

// From Monday to Sunday.
const WEEK = [...WEEKDAYS.slice(1), WEEKDAYS[0]];

// `mon-fri` for days that follow one another.
const daysText = (days: ScheduleWindow['days']): string => {
  const sorted = WEEK.filter((day) => days.includes(day));
  const isRun = sorted.length > 2 && WEEK.join().includes(sorted.join());
  return isRun ? `${sorted[0]}-${sorted.at(-1)}` : sorted.join(', ');
};

const MOST_NAMED_WINDOWS = 2;

const windowsText = (schedule: readonly ScheduleWindow[]): string => {
  if (schedule.length > MOST_NAMED_WINDOWS) return `in ${schedule.length} windows of the week`;
  return schedule.map(({ days, from, to, time_zone }) => `${daysText(days)} ${from}-${to} ${time_zone}`).join(' and ');
};

const scheduleText = (after: readonly ScheduleWindow[]): string =>
  after.length === 0 ? 'sleep without regard to windows' : `stay awake ${windowsText(after)}`;

const copiesText = (before: number, after: number): string =>
  `run at least ${after} ${after === 1 ? 'copy' : 'copies'}, rather than ${before}`;

const changeText = (before: Settings, after: Settings): string => {
  const changes = [
    ...(isDeepStrictEqual(before.schedule, after.schedule) ? [] : [scheduleText(after.schedule)]),
    ...(before.idleSeconds === after.idleSeconds ? [] : [idleText(before.idleSeconds, after.idleSeconds)]),
    ...(before.minCopies === after.minCopies ? [] : [copiesText(before.minCopies, after.minCopies)]),
  ].join(', and ');
  return `${changes.slice(0, 1).toUpperCase()}${changes.slice(1)}`;
};

const CENTS_A_DOLLAR = 100n;

const amountText = (nanos: bigint, symbol: string): string => {
  const cents = nanos / NANOS_A_CENT;
  return `${symbol}${cents / CENTS_A_DOLLAR}.${String(cents % CENTS_A_DOLLAR).padStart(2, '0')}`;
};

const startsText = (starts: number): string => {
  if (starts === 0) return 'has as many cold starts';
  const count = Math.abs(starts);
  return `causes ${count} ${starts > 0 ? 'more' : 'fewer'} cold start${count === 1 ? '' : 's'}`;
};

const waitText = (ms: number): string => {
  if (ms === 0) return 'the p95 wait stays the same';
  return `the p95 wait ${ms > 0 ? 'grows' : 'falls'} by ${(Math.abs(ms) / SECOND_MS).toFixed(1)} s`;
};

interface Replayed {
  range: Period;
  /** All requests of the days. */
  requests: number;
  /** The symbol of the currency. */
  symbol: string;
}

const suggestionOf = (present: Option, option: Option, { range, symbol }: Replayed): Suggestion => {
  const savedNanos = nanosAMonth(present.costNanos - option.costNanos, range);
  const coldStarts = aMonth(option.coldStarts - present.coldStarts, range);
  const waitP95Ms = option.waitP95Ms - present.waitP95Ms;
  const cost = savedNanos >= 0n ? `saves ${amountText(savedNanos, symbol)}` : `costs ${amountText(-savedNanos, symbol)} more`;
  const sentence = `${changeText(present, option)}: that ${cost} a month and ${startsText(coldStarts)}; ${waitText(waitP95Ms)}.`;
  const { idleSeconds, schedule, minCopies } = option;
  return { sentence, settings: { idleSeconds, schedule, minCopies }, savedNanos, coldStarts, waitP95Ms };
};

const best = (options: readonly Option[], isPreferred: (one: Option, other: Option) => boolean): Option | undefined =>
  options.reduce<Option | undefined>((found, option) => (found && !isPreferred(option, found) ? found : option), undefined);

type Amounts = readonly [number | bigint, number | bigint];

// By the first amounts or, if they are equal, by the second ones.
const isLess = (one: Amounts, other: Amounts): boolean => one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]);

/**
 * Suggests one of the options in place of the present one, or nothing: the one that saves the most while hardly more
 * requests wait, or else the one for which callers wait least at about the same cost.
 */
export const suggest = (present: Option, options: readonly Option[], replayed: Replayed): Suggestion | undefined => {
  const { requests, range } = replayed;
  const shareOf = ({ waitingRequests }: Option): number => waitingRequests / Math.max(requests, 1);
  const saving = options.filter(
    (option) =>
      nanosAMonth(present.costNanos - option.costNanos, range) >= LEAST_SAVING_NANOS &&
      option.waitP95Ms - present.waitP95Ms <= MOST_P95_MS &&
      shareOf(option) - shareOf(present) <= MOST_WAITING_SHARE,
  );
  const cheapest = best(saving, (one, other) => isLess([one.costNanos, one.waitedMs], [other.costNanos, other.waitedMs]));
  if (cheapest) return suggestionOf(present, cheapest, replayed);
  const faster = options.filter(
    ({ costNanos, coldStarts }) => coldStarts < present.coldStarts && costNanos * 100n <= present.costNanos * (100n + MOST_MORE_PERCENT),
  );
  const fastest = best(faster, (one, other) => isLess([one.waitedMs, one.costNanos], [other.waitedMs, other.costNanos]));
  return fastest && suggestionOf(present, fastest, replayed);
};
