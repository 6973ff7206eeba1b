import { type InvalidRequest, InvalidValue } from '../../../../shared/http/errors.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { isExpired, RETENTION_DAYS, SPAN_MS, type TotalsSpan } from '../../../../shared/usage/organization-totals.ts';
import { type MetricsQuery, RESOLUTIONS, type Resolution } from './metrics-query.ts';

const MAX_SERIES_POINTS = 400;
const DEFAULT_LENGTH_MS = 3_600_000;

const SPAN_OF: Readonly<Record<Resolution, TotalsSpan>> = { '1m': 'minute', '10m': 'ten_minutes', '1h': 'hour', '1d': 'day' };

/** A range of whole points, in ms since the epoch; its end is exclusive. */
export interface MetricsWindow {
  /** The length of a point. */
  span: TotalsSpan;
  fromMs: number;
  toMs: number;
}

const inSpans = (span: TotalsSpan, startMs: number, endMs: number): MetricsWindow => ({
  span,
  fromMs: Math.floor(startMs / SPAN_MS[span]) * SPAN_MS[span],
  toMs: Math.ceil(endMs / SPAN_MS[span]) * SPAN_MS[span],
});

const pointsOf = ({ span, fromMs, toMs }: MetricsWindow): number => (toMs - fromMs) / SPAN_MS[span];

const tooLong = (resolution: Resolution): InvalidValue => {
  const coarser = RESOLUTIONS[RESOLUTIONS.indexOf(resolution) + 1];
  return new InvalidValue(
    'start_time',
    `with the resolution '${resolution}', expected a window of at most ${MAX_SERIES_POINTS} points. Use a shorter window${coarser ? `, or the 'resolution' '${coarser}'` : ''}`,
  );
};

const tooOld = (resolution: Resolution, span: Exclude<TotalsSpan, 'day'>): InvalidValue =>
  new InvalidValue(
    'start_time',
    `with the resolution '${resolution}', expected a time in the last ${RETENTION_DAYS[span]} days. Use a later time, or leave out 'resolution'`,
  );

const faultOf = (resolution: Resolution, window: MetricsWindow, nowMs: number): InvalidValue | undefined => {
  if (window.span !== 'day' && isExpired(window.span, window.fromMs, nowMs)) return tooOld(resolution, window.span);
  return pointsOf(window) > MAX_SERIES_POINTS ? tooLong(resolution) : undefined;
};

/**
 * Returns the window of a query, extended to whole points. Without a resolution in the query, it is the finest one
 * whose totals still exist and that has at most 400 points. The window ends with the current point at the latest.
 * @throws 400
 */
export const metricsWindowOf = (
  { start_time, end_time, resolution }: Pick<MetricsQuery, 'start_time' | 'end_time' | 'resolution'>,
  nowMs: number,
): MetricsWindow => {
  const endMs = Math.min((end_time ?? Number.POSITIVE_INFINITY) * SECOND_MS, nowMs);
  const startMs = start_time === undefined ? Math.max(endMs - DEFAULT_LENGTH_MS, 0) : start_time * SECOND_MS;
  if (endMs <= startMs) throw new InvalidValue('start_time', "expected a time before 'end_time' and before now");
  const [first, ...coarser] = (resolution ? [resolution] : RESOLUTIONS).map((each) => {
    const window = inSpans(SPAN_OF[each], startMs, endMs);
    return { window, fault: faultOf(each, window, nowMs) };
  }) as [{ window: MetricsWindow; fault: InvalidRequest | undefined }];
  const fitting = [first, ...coarser].find(({ fault }) => !fault);
  if (!fitting) throw [first, ...coarser].at(-1)?.fault;
  return fitting.window;
};
