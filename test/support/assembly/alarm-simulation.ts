import type { Template } from 'aws-cdk-lib/assertions';
import { compileLogFilter, fieldOf } from '../../../infra/tools/cost/log-filter.ts';
import { evaluate, type Value } from './metric-math.ts';

type Properties = Record<string, unknown>;
type Line = Readonly<Record<string, unknown>>;

/** The lines and metrics of one minute. */
export interface Minute {
  /** Log lines of the function, and how many of each. */
  lines?: readonly (readonly [Line, number])[];
  /** The function's own metrics. */
  lambda?: { Errors?: number; Throttles?: number };
  /** Metrics of its host or its schedule. */
  metrics?: { '5XXError'?: number; Invocations?: number; AsyncEventsDropped?: number };
}

interface Point {
  sum: number;
  samples: number;
}

interface MetricQuery {
  Id: string;
  Expression?: string;
  ReturnData?: boolean;
  MetricStat?: { Metric: { MetricName: string }; Period: number; Stat: 'Sum' | 'SampleCount' };
}

const resources = (template: Template, type: string): [string, Properties][] =>
  Object.entries(template.findResources(type)).map(([id, { Properties }]) => [id, Properties]);

// One function writes all lines.
const compileFilters = (template: Template) =>
  resources(template, 'AWS::Logs::MetricFilter').map(([, { FilterPattern, MetricTransformations }]) => {
    const [{ MetricName, MetricValue, DefaultValue }] = MetricTransformations as [
      { MetricName: string; MetricValue: string; DefaultValue?: number },
    ];
    const matches = compileLogFilter(String(FilterPattern));
    const numberIn = (line: Line): unknown => (MetricValue.startsWith('$') ? fieldOf(line, MetricValue) : Number(MetricValue));
    return { MetricName, matches, numberIn, DefaultValue };
  });

type Filter = ReturnType<typeof compileFilters>[number];

// Without lines there is no point; if no line matches, the point is the filter's default.
const pointOf = ({ matches, numberIn, DefaultValue }: Filter, { lines = [] }: Minute): Point | undefined => {
  const written = lines.filter(([, count]) => count > 0);
  const found = written
    .map(([line, count]) => ({ value: matches(line) ? numberIn(line) : undefined, count }))
    .filter((match): match is { value: number; count: number } => typeof match.value === 'number');
  if (found.length === 0) return written.length > 0 && DefaultValue !== undefined ? { sum: DefaultValue, samples: 1 } : undefined;
  const total = (of: (match: { value: number; count: number }) => number): number => found.reduce((sum, match) => sum + of(match), 0);
  return { sum: total(({ value, count }) => value * count), samples: total(({ count }) => count) };
};

// `pointsOf` returns the last points of a metric.
const isBreached = (
  { Metrics, Threshold, ComparisonOperator, TreatMissingData }: Properties,
  pointsOf: (metric: string, minutes: number) => Point[],
  options: { fillsEmpty: boolean },
): boolean => {
  const queries = new Map((Metrics as MetricQuery[]).map((query) => [query.Id, query]));
  const lookUp = (id: string): Value => {
    const { Expression, MetricStat } = queries.get(id) ?? {};
    if (Expression !== undefined) return evaluate(Expression, lookUp, options);
    if (!MetricStat) throw new Error(`There is no metric ${id}.`);
    const points = pointsOf(MetricStat.Metric.MetricName, MetricStat.Period / 60);
    if (points.length === 0) return undefined;
    return points.reduce((total, { sum, samples }) => total + (MetricStat.Stat === 'Sum' ? sum : samples), 0);
  };
  const [returned] = [...queries.values()].filter(({ ReturnData }) => ReturnData !== false);
  const value = lookUp(returned?.Id ?? '');
  // An alarm that does not ignore missing data also notifies of it.
  if (value === undefined) return TreatMissingData === 'missing';
  return ComparisonOperator === 'LessThanThreshold' ? value < Number(Threshold) : value > Number(Threshold);
};

/**
 * Simulates an alarm of the template on a formula, whose window slides by a minute.
 * @param name its name in docs/runbook.md
 * @returns for each minute, whether it is in alarm at its end
 */
export const simulate = (template: Template, name: string, minutes: readonly Minute[], options = { fillsEmpty: true }): boolean[] => {
  const filters = compileFilters(template);
  const seriesOf = (metric: string): (Point | undefined)[] => {
    const filter = filters.find(({ MetricName }) => MetricName === metric);
    if (filter) return minutes.map((minute) => pointOf(filter, minute));
    return minutes.map(({ lines = [], lambda = {}, metrics = {} }) => {
      const sum = { ...lambda, ...metrics }[metric as keyof typeof lambda | keyof typeof metrics];
      // Lambda publishes 0 for a minute with invocations.
      return sum !== undefined || lines.length > 0 ? { sum: sum ?? 0, samples: 1 } : undefined;
    });
  };
  const series = new Map<string, (Point | undefined)[]>();
  const pointsUpTo =
    (minute: number) =>
    (metric: string, length: number): Point[] => {
      const points = series.get(metric) ?? seriesOf(metric);
      series.set(metric, points);
      return points.slice(Math.max(0, minute + 1 - length), minute + 1).filter((point) => point !== undefined);
    };
  const [alarm] = resources(template, 'AWS::CloudWatch::Alarm').filter(([, { AlarmName }]) => String(AlarmName).endsWith(`-${name}`));
  if (!alarm) throw new Error(`There is no alarm ${name}.`);
  return minutes.map((_, minute) => isBreached(alarm[1], pointsUpTo(minute), options));
};
