import { formatShare, fromUnits, sumOf, toUnits } from '../../design/format/amounts.ts';
import type { Grouping, Measure } from './usage-query.ts';

// A group of usage in a bucket. Costs have no tokens and requests.
type Result = Readonly<Record<Grouping, string | null>> & {
  readonly cost: string;
  readonly num_model_requests?: number;
  readonly input_tokens?: unknown;
  readonly input_cached_tokens?: unknown;
  readonly output_tokens?: unknown;
};

export interface UsageBucket {
  readonly start_time: number;
  readonly results: readonly Result[];
}

export interface UsageSums {
  cost: string;
  requests: bigint;
  input: bigint;
  cached: bigint;
  output: bigint;
}

/** Usage of a group on a day, or in the whole range. */
export interface UsageRow extends UsageSums {
  name: string | null;
}

export interface UsageTable {
  /** Unix seconds. */
  days: readonly number[];
  /** By their measure, the largest first. */
  groups: readonly UsageRow[];
  /** For each day, its groups. */
  byDay: ReadonlyMap<number, readonly UsageRow[]>;
  total: UsageSums;
}

const NOTHING: UsageSums = { cost: '0', requests: 0n, input: 0n, cached: 0n, output: 0n };

// A number, or the digits of one that a number can't hold.
const wholeOf = (value: unknown): bigint => BigInt((value as number | string | undefined) ?? 0);

const sumsOf = (result: Result): UsageSums => ({
  cost: result.cost,
  requests: wholeOf(result.num_model_requests),
  input: wholeOf(result.input_tokens),
  cached: wholeOf(result.input_cached_tokens),
  output: wholeOf(result.output_tokens),
});

const added = (one: UsageSums, other: UsageSums): UsageSums => ({
  cost: sumOf([one.cost, other.cost]),
  requests: one.requests + other.requests,
  input: one.input + other.input,
  cached: one.cached + other.cached,
  output: one.output + other.output,
});

// The values that a chart or an order compares: units of 10^-12 dollars, tokens, or requests.
const measured = ({ cost, input, output, requests }: UsageSums, measure: Measure): bigint =>
  ({ cost: toUnits(cost), tokens: input + output, requests })[measure];

/** A measure as a decimal number. */
export const measuredText = (sums: UsageSums, measure: Measure): string =>
  measure === 'cost' ? fromUnits(toUnits(sums.cost)) : String(measured(sums, measure));

/** The share of the input tokens that runtimes read from their caches, such as `12%`. */
export const cacheShare = ({ cached, input }: Pick<UsageSums, 'cached' | 'input'>): string =>
  input === 0n ? '–' : formatShare(String(cached), String(input));

const inOrder = (rows: Iterable<UsageRow>, measure: Measure): UsageRow[] =>
  [...rows].sort((one, other) => {
    const difference = measured(other, measure) - measured(one, measure);
    return difference === 0n ? (one.name ?? '').localeCompare(other.name ?? '') : difference > 0n ? 1 : -1;
  });

/** Sums buckets by group and by day. A day can be in several buckets: of other organizations, or of other pages. */
export const tabulate = (buckets: readonly UsageBucket[], groupBy: Grouping, measure: Measure): UsageTable => {
  const byDay = new Map<number, Map<string | null, UsageRow>>();
  const groups = new Map<string | null, UsageRow>();
  const add = (to: Map<string | null, UsageRow>, name: string | null, sums: UsageSums) =>
    to.set(name, { name, ...added(to.get(name) ?? NOTHING, sums) });
  for (const { start_time, results } of buckets) {
    const day = byDay.get(start_time) ?? new Map<string | null, UsageRow>();
    byDay.set(start_time, day);
    for (const result of results) {
      add(day, result[groupBy], sumsOf(result));
      add(groups, result[groupBy], sumsOf(result));
    }
  }
  const days = [...byDay.keys()].sort((one, other) => one - other);
  return {
    days,
    groups: inOrder(groups.values(), measure),
    byDay: new Map(days.map((day) => [day, inOrder(byDay.get(day)?.values() ?? [], measure)])),
    total: [...groups.values()].reduce<UsageSums>(added, NOTHING),
  };
};

const MAX_SERIES = 6;
const OTHERS = 'All others';

interface UsageSeries {
  name: string;
  /** For the height only: it can be inexact. */
  values: number[];
  texts: string[];
}

/** The groups as series of a chart: the six largest, and the sum of all others. */
export const seriesOf = (
  { days, groups, byDay }: UsageTable,
  measure: Measure,
  nameOf: (name: string | null) => string,
  textOf: (value: string) => string,
): UsageSeries[] => {
  const shown = groups.slice(0, MAX_SERIES).map(({ name }) => name);
  const seriesFor = (name: string, isOfSeries: (group: string | null) => boolean): UsageSeries => {
    const ofDays = days.map((day) =>
      measuredText((byDay.get(day) ?? []).filter((row) => isOfSeries(row.name)).reduce<UsageSums>(added, NOTHING), measure),
    );
    return { name, values: ofDays.map(Number), texts: ofDays.map(textOf) };
  };
  return [
    ...shown.map((name) => seriesFor(nameOf(name), (group) => group === name)),
    ...(groups.length > MAX_SERIES ? [seriesFor(OTHERS, (group) => !shown.includes(group))] : []),
  ];
};
