import { type Counts, count, mergeCounts, sumOfCounts } from '../../../../shared/usage/counts.ts';
import { mergeTotals, noTotals, type Totals } from '../../../../shared/usage/totals.ts';
import type { UsageDimension, UsageRecord } from '../../query/group-usage.ts';

// The series with the most requests are returned; all others are one.
const MAX_SERIES = 20;
const OTHERS = '(other)';

/** Requests of a point or a window. */
export interface Activity {
  totals: Totals;
  /** Refused requests by error code. */
  refusals: Counts<string>;
}

/** The activity of a group, by the start of each point. */
export interface MetricsSeries {
  by: Partial<UsageRecord['by']>;
  points: Map<number, Activity>;
  sum: Activity;
}

const noActivity = (): Activity => ({ totals: noTotals(), refusals: new Map() });

const sumOf = (a: Activity, b: Activity): Activity => ({
  totals: mergeTotals(a.totals, b.totals),
  refusals: mergeCounts(a.refusals, b.refusals),
});

const emptySeries = (by: MetricsSeries['by']): MetricsSeries => ({ by, points: new Map(), sum: noActivity() });

const change = (series: MetricsSeries, startMs: number, add: (activity: Activity) => Activity): void => {
  series.points.set(startMs, add(series.points.get(startMs) ?? noActivity()));
  series.sum = add(series.sum);
};

/** Adds up activity by some dimensions. */
export const createSeries = (dimensions: readonly UsageDimension[]) => {
  const series = new Map<string, MetricsSeries>();
  const seriesOf = (by: MetricsSeries['by']): MetricsSeries => {
    const id = JSON.stringify(dimensions.map((dimension) => by[dimension]));
    const entry = series.get(id) ?? emptySeries(Object.fromEntries(dimensions.map((dimension) => [dimension, by[dimension]])));
    series.set(id, entry);
    return entry;
  };

  // Users beyond the limit of a span, who are `(other)` at rest, are merged with all but the largest series.
  const fold = (): void => {
    const inOrder = [...series].sort(
      ([a, one], [b, other]) =>
        other.sum.totals.requests - one.sum.totals.requests ||
        sumOfCounts(other.sum.refusals) - sumOfCounts(one.sum.refusals) ||
        (a < b ? -1 : 1),
    );
    series.clear();
    for (const [id, each] of inOrder.slice(0, MAX_SERIES)) series.set(id, each);
    for (const [, { points }] of inOrder.slice(MAX_SERIES))
      for (const [startMs, activity] of points)
        change(seriesOf(Object.fromEntries(dimensions.map((dimension) => [dimension, OTHERS]))), startMs, (before) =>
          sumOf(before, activity),
        );
  };

  return {
    /** Adds requests to the point that starts at `startMs`. */
    addTotals: (by: MetricsSeries['by'], startMs: number, totals: Totals): void =>
      change(seriesOf(by), startMs, (before) => ({ ...before, totals: mergeTotals(before.totals, totals) })),

    /** Adds refused requests to the point that starts at `startMs`. */
    addRefusals: (by: MetricsSeries['by'], startMs: number, code: string, times: number): void =>
      change(seriesOf(by), startMs, (before) => {
        const refusals = new Map(before.refusals);
        count(refusals, code, times);
        return { ...before, refusals };
      }),

    /**
     * The series in the order of their requests, most first, then all others as one. Without dimensions, there is
     * always one.
     */
    list: (): MetricsSeries[] => {
      if (dimensions.length === 0) seriesOf({});
      fold();
      return [...series.values()];
    },
  };
};
