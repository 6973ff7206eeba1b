import { type InvalidRequest, InvalidValue } from '../../../shared/http/errors.ts';
import { DAY_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { RETENTION_DAYS, SPAN_MS, type TotalsSpan } from '../../../shared/usage/organization-totals.ts';

export const WIDTHS = ['1m', '1h', '1d'] as const;
export type Width = (typeof WIDTHS)[number];

// Widest first: a bucket that is cut by the range needs shorter spans.
const SPANS_OF: Readonly<Record<Width, readonly TotalsSpan[]>> = {
  '1m': ['minute'],
  '1h': ['hour', 'minute'],
  '1d': ['day', 'hour', 'minute'],
};
const WIDER: Readonly<Record<Width, string>> = { '1m': "'1h' or '1d'", '1h': "'1d'", '1d': '' };

/** A range of time in ms since the epoch; its end is exclusive. */
export interface TimeRange {
  fromMs: number;
  toMs: number;
}

/** A range whose totals are stored by one span. */
export interface TimeSegment extends TimeRange {
  span: TotalsSpan;
}

const floor = (ms: number, span: TotalsSpan): number => Math.floor(ms / SPAN_MS[span]) * SPAN_MS[span];
const ceil = (ms: number, span: TotalsSpan): number => Math.ceil(ms / SPAN_MS[span]) * SPAN_MS[span];

export const widthSpan = (width: Width): TotalsSpan => SPANS_OF[width][0] as TotalsSpan;

const isKept = (span: TotalsSpan, startMs: number, nowMs: number): boolean =>
  span === 'day' || startMs + SPAN_MS[span] + RETENTION_DAYS[span as keyof typeof RETENTION_DAYS] * DAY_MS > nowMs;

const shortestKept = (spans: readonly TotalsSpan[], ms: number, nowMs: number): TotalsSpan | undefined =>
  spans.findLast((span) => isKept(span, floor(ms, span), nowMs));

const tooOld = (width: Width): InvalidRequest =>
  new InvalidValue(
    'start_time',
    `with 'bucket_width' '${width}', expected a time in the last ${width === '1m' ? RETENTION_DAYS.minute : RETENTION_DAYS.hour} days. Use a later time, or the 'bucket_width' ${WIDER[width]}`,
  );

/**
 * Returns the range of a query, extended to whole minutes, or to whole hours or days where the totals of shorter times
 * no longer exist. It ends with the current bucket, unless the query ends earlier.
 * @param spans of the totals that can be read, widest first
 * @throws 400
 */
export const rangeOf = (
  { start_time, end_time, bucket_width: width }: { start_time: number; end_time?: number | undefined; bucket_width: Width },
  nowMs: number,
  spans: readonly TotalsSpan[] = SPANS_OF[width],
): TimeRange => {
  const [widest] = spans as [TotalsSpan];
  if (end_time !== undefined && end_time <= start_time) throw new InvalidValue('end_time', "expected a time after 'start_time'");
  const first = shortestKept(spans, start_time * SECOND_MS, nowMs);
  if (!first) throw tooOld(width);
  const fromMs = floor(start_time * SECOND_MS, first);
  const latestMs = floor(nowMs, widest) + SPAN_MS[widest];
  if (end_time === undefined || end_time * SECOND_MS >= latestMs) return { fromMs, toMs: Math.max(latestMs, fromMs) };
  const endMs = end_time * SECOND_MS;
  const last = spans.findLast((span, i) => i === 0 || isKept(span, floor(endMs, spans[i - 1] as TotalsSpan), nowMs)) ?? widest;
  return { fromMs, toMs: ceil(endMs, last) };
};

/** Returns the first buckets of a range, at most `limit`: aligned to UTC, cut to the range. */
export const bucketsOf = ({ fromMs, toMs }: TimeRange, width: Width, limit: number): TimeRange[] => {
  const span = widthSpan(width);
  const buckets: TimeRange[] = [];
  for (let ms = fromMs, nextMs: number; ms < toMs && buckets.length < limit; ms = nextMs) {
    nextMs = Math.min(floor(ms, span) + SPAN_MS[span], toMs);
    buckets.push({ fromMs: ms, toMs: nextMs });
  }
  return buckets;
};

const segments = function* ({ fromMs, toMs }: TimeRange, [span, ...shorter]: readonly TotalsSpan[]): Generator<TimeSegment> {
  if (span === undefined || fromMs >= toMs) return;
  const [firstMs, lastMs] = shorter.length > 0 ? [ceil(fromMs, span), floor(toMs, span)] : [fromMs, toMs];
  if (firstMs > lastMs) yield* segments({ fromMs, toMs }, shorter);
  else {
    yield* segments({ fromMs, toMs: firstMs }, shorter);
    if (firstMs < lastMs) yield { span, fromMs: firstMs, toMs: lastMs };
    yield* segments({ fromMs: lastMs, toMs }, shorter);
  }
};

/**
 * Returns the parts of a range, in the order of time, each by the longest span that fits, so that the fewest rows are
 * read.
 */
export const segmentsOf = (range: TimeRange, width: Width): TimeSegment[] => [...segments(range, SPANS_OF[width])];
