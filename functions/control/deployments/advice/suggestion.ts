import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import type { Period } from './history.ts';
import type { Option } from './options.ts';

/** A change of one setting, and what it brings in 30 days. */
export interface Suggestion {
  sentence: string;
  idleSeconds: number | null;
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

const changeText = (before: number | null, after: number | null): string => {
  if (after === null) return `Never sleep, rather than after ${minutesText(before ?? 0)} without a request`;
  return `Sleep after ${minutesText(after)} without a request, rather than ${before === null ? 'never' : `after ${minutesText(before)}`}`;
};

const CENTS_A_DOLLAR = 100n;

const dollars = (nanos: bigint): string => {
  const cents = nanos / NANOS_A_CENT;
  return `$${cents / CENTS_A_DOLLAR}.${String(cents % CENTS_A_DOLLAR).padStart(2, '0')}`;
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

const suggestionOf = (present: Option, option: Option, range: Period): Suggestion => {
  const savedNanos = nanosAMonth(present.costNanos - option.costNanos, range);
  const coldStarts = aMonth(option.coldStarts - present.coldStarts, range);
  const waitP95Ms = option.waitP95Ms - present.waitP95Ms;
  const cost = savedNanos >= 0n ? `saves ${dollars(savedNanos)}` : `costs ${dollars(-savedNanos)} more`;
  const sentence = `${changeText(present.idleSeconds, option.idleSeconds)}: that ${cost} a month and ${startsText(coldStarts)}; ${waitText(waitP95Ms)}.`;
  return { sentence, idleSeconds: option.idleSeconds, savedNanos, coldStarts, waitP95Ms };
};

const best = (options: readonly Option[], isPreferred: (one: Option, other: Option) => boolean): Option | undefined =>
  options.reduce<Option | undefined>((found, option) => (found && !isPreferred(option, found) ? found : option), undefined);

/**
 * Suggests one of the options in place of the present one, or nothing: the one that saves the most while hardly more
 * requests wait, or else the one for which callers wait least at about the same cost.
 * @param requests all requests of the days
 */
export const suggest = (
  present: Option,
  options: readonly Option[],
  { requests, range }: { requests: number; range: Period },
): Suggestion | undefined => {
  const shareOf = ({ waitingRequests }: Option): number => waitingRequests / Math.max(requests, 1);
  const saving = options.filter(
    (option) =>
      nanosAMonth(present.costNanos - option.costNanos, range) >= LEAST_SAVING_NANOS &&
      option.waitP95Ms - present.waitP95Ms <= MOST_P95_MS &&
      shareOf(option) - shareOf(present) <= MOST_WAITING_SHARE,
  );
  const cheapest = best(saving, (one, other) => one.costNanos < other.costNanos);
  if (cheapest) return suggestionOf(present, cheapest, range);
  const faster = options.filter(
    ({ costNanos, coldStarts }) => coldStarts < present.coldStarts && costNanos * 100n <= present.costNanos * (100n + MOST_MORE_PERCENT),
  );
  const fastest = best(faster, (one, other) => one.waitedMs < other.waitedMs);
  return fastest && suggestionOf(present, fastest, range);
};
