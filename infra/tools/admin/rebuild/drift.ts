import { isDeepStrictEqual } from 'node:util';
import { coarsened, type Histogram, SCALE } from '../../../../shared/usage/histogram.ts';
import type { Row } from '../../../../shared/usage/row-store.ts';
import type { Totals } from '../../../../shared/usage/totals.ts';

/** Differences between stored totals and rebuilt ones. */
export interface Differences {
  /** Wrong rows, and the absolute differences in events and money. One mistake counts in each row that contains it. */
  drift: { rows: number; events: number; cost_nanos: bigint };
  /** Rows that lack only events of the last few minutes, which the stream will deliver. */
  behind: { rows: number; events: number };
}

export const noDifferences = (): Differences => ({
  drift: { rows: 0, events: 0, cost_nanos: 0n },
  behind: { rows: 0, events: 0 },
});

/** The stream delivers an event within this time, unless something is wrong. */
export const BEHIND_MS = 5 * 60_000;

export const abs = (value: bigint): bigint => (value < 0n ? -value : value);

// 8 buckets an octave.
const EARLIER_SCALE = 3;
const isEarlier = ({ scale, counts }: Histogram): boolean => counts.size > 0 && scale < SCALE;

// Earlier versions stored coarser histograms and no sums of times.
const asEarlier = (totals: Totals): Totals => ({
  ...totals,
  duration_ms: coarsened(totals.duration_ms, EARLIER_SCALE),
  time_to_first_token_ms: coarsened(totals.time_to_first_token_ms, EARLIER_SCALE),
  duration_ms_sum: 0n,
  prompt_ms_sum: 0n,
  generation_ms_sum: 0n,
  generation_tokens: 0n,
});

// A row that lacks only what earlier versions did not record is replaced, but is no difference.
const isOfEarlierVersion = (stored: Totals, totals: Totals): boolean =>
  (stored.prompt_ms_sum < totals.prompt_ms_sum && isDeepStrictEqual({ ...stored, prompt_ms_sum: totals.prompt_ms_sum }, totals)) ||
  ((isEarlier(stored.duration_ms) || isEarlier(stored.time_to_first_token_ms)) && isDeepStrictEqual(asEarlier(stored), asEarlier(totals)));

/**
 * Adds the difference of a stored row, in place.
 * @param row undefined: there is none
 * @param totals undefined: there should be no row
 * @param lateEvents how many of the row's events are from the last few minutes
 */
export const addDifference = (
  { drift, behind }: Differences,
  row: Row | undefined,
  totals: Totals | undefined,
  lateEvents: number,
): void => {
  if (row?.totals && totals && isOfEarlierVersion(row.totals, totals)) return;
  const n = row === undefined ? 0 : row.n;
  const events = (totals?.events ?? 0) - (typeof n === 'number' ? n : 0);
  if (typeof n === 'number' && events > 0 && events <= lateEvents) {
    behind.rows++;
    behind.events += events;
    return;
  }
  drift.rows++;
  drift.events += Math.abs(events);
  drift.cost_nanos += abs((totals?.cost_nanos ?? 0n) - (row?.totals?.cost_nanos ?? 0n));
};
