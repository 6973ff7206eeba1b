import * as z from 'zod';
import { exactInteger } from '../../../../shared/http/json/json-numbers.ts';
import { areRefusalsKept } from '../../../../shared/observability/refusal-store.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { sumOfCounts } from '../../../../shared/usage/counts.ts';
import { Outcome } from '../../../../shared/usage/event.ts';
import { type Histogram, quantiles } from '../../../../shared/usage/histogram.ts';
import { SPAN_MS } from '../../../../shared/usage/organization-totals.ts';
import type { Totals } from '../../../../shared/usage/totals.ts';
import type { Activity, MetricsSeries } from './metrics-series.ts';
import type { MetricsWindow } from './metrics-window.ts';

// An integer of any size: sums of tokens are bigints.
const Tokens = z.unknown().meta({ type: 'integer', minimum: 0 });
const Name = z.string().nullable();
const Percentiles = z
  .object({ p50: z.number(), p90: z.number(), p99: z.number() })
  .nullable()
  .meta({ description: 'In milliseconds, at most 1.1 % too high or too low. Null without requests.' });
const SHARES = [0.5, 0.9, 0.99];
const CountsByCode = z.record(z.string(), z.int());

const values = {
  requests: z.int().meta({ description: 'Admitted requests that arrived in this time and have ended.' }),
  errors: CountsByCode.meta({ description: 'Admitted requests by the code of the error that their caller received.' }),
  error_rate: z.number().nullable().meta({
    description: 'The share of the requests that ended with an error, or whose function crashed. Null without requests.',
  }),
  outcomes: z.partialRecord(Outcome, z.int()),
  fallbacks: z.int().meta({
    description:
      'The requests among them that came to the model as a fallback, after another one had failed. Group by `model` to see which.',
  }),
  input_tokens: Tokens,
  cached_tokens: Tokens.meta({ description: 'The input tokens that the runtime read from its cache.' }),
  output_tokens: Tokens,
  cache_share: z.number().nullable().meta({ description: 'The share of the input tokens that were cached. Null without input tokens.' }),
  cost: z.string().meta({ description: 'An exact decimal number, in the currency of the prices.', examples: ['12.34'] }),
  time_to_first_token_ms: Percentiles,
  duration_ms: Percentiles,
  output_tokens_per_second: z.number().nullable().meta({
    description:
      'How fast an answer is generated after its first token: all these tokens divided by the time that they took. Null without.',
  }),
  concurrency: z.number().meta({
    description:
      'The average number of requests in flight: the sum of the durations of the requests that arrived in this time, divided by it.',
  }),
  refusals: CountsByCode.nullable().meta({
    description:
      'Requests that were refused before admission, by error code. They are kept for 90 days: a point of an earlier day has null, and a window counts those that are left. Null also if grouped or filtered by anything but organization and API key, because nothing else is known of them, and for too many organizations and days.',
  }),
};

const Point = z.object({ start_time: z.int().meta({ description: 'The start of what the point covers (Unix seconds).' }), ...values });

export const Metrics = z.object({
  object: z.literal('metrics'),
  start_time: z.int().meta({ description: 'The start of the window (Unix seconds), inclusive: yours, extended to a whole point.' }),
  end_time: z.int().meta({ description: 'The end of the window (Unix seconds), exclusive: yours, extended to a whole point.' }),
  resolution_seconds: z.int().meta({ description: 'What a point covers.' }),
  series: z.array(
    z
      .object({
        organization: Name,
        project_id: Name,
        api_key_id: Name,
        user_id: Name,
        model: Name,
        route: Name,
        deployment: Name,
        alias: Name,
        side: Name,
        points: z.array(Point).meta({ description: 'Oldest first, without those in which nothing happened.' }),
        totals: z.object(values).meta({ description: 'The same for the whole window.' }),
      })
      .meta({
        description:
          'A name is null unless the series are grouped by it, and for requests without it. `(other)` stands for all but the 20 largest series.',
      }),
  ),
});

const rounded = (value: number, decimals: number): number => Number(value.toFixed(decimals));

const percentilesOf = (histogram: Histogram) => {
  const [p50, p90, p99] = (quantiles(histogram, SHARES) ?? []).map((ms) => rounded(ms, 3));
  return p50 === undefined || p90 === undefined || p99 === undefined ? null : { p50, p90, p99 };
};

// Divides integers first, because sums of tokens can exceed the exact range of a number.
const shareOf = (part: bigint, whole: bigint): number | null => (whole > 0n ? Number((part * 1_000_000n) / whole) / 1_000_000 : null);

const errorRateOf = ({ requests, errors, outcomes }: Totals): number | null => {
  if (requests === 0) return null;
  const failed = sumOfCounts(errors) + (outcomes.get('orphaned') ?? 0);
  return rounded(failed / requests, 6);
};

const tokensPerSecondOf = ({ generation_tokens: tokens, generation_ms_sum: ms }: Totals): number | null =>
  ms > 0n ? rounded((Number(tokens) * SECOND_MS) / Number(ms), 2) : null;

const valuesOf = ({ totals, refusals }: Activity, lengthMs: number, hasRefusals: boolean): z.infer<z.ZodObject<typeof values>> => ({
  requests: totals.requests,
  errors: Object.fromEntries(totals.errors),
  error_rate: errorRateOf(totals),
  outcomes: Object.fromEntries(totals.outcomes),
  fallbacks: totals.fallbacks,
  input_tokens: exactInteger(totals.prompt_tokens),
  cached_tokens: exactInteger(totals.cached_tokens),
  output_tokens: exactInteger(totals.completion_tokens),
  cache_share: shareOf(totals.cached_tokens, totals.prompt_tokens),
  cost: dollarsOf(totals.cost_nanos),
  time_to_first_token_ms: percentilesOf(totals.time_to_first_token_ms),
  duration_ms: percentilesOf(totals.duration_ms),
  output_tokens_per_second: tokensPerSecondOf(totals),
  concurrency: rounded(Number(totals.duration_ms_sum) / lengthMs, 4),
  refusals: hasRefusals ? Object.fromEntries(refusals) : null,
});

/**
 * Converts series to the reply of a query.
 * @param hasRefusals false: the groups and filters say nothing about refused requests
 */
export const metricsOf = (
  { span, fromMs, toMs }: MetricsWindow,
  series: readonly MetricsSeries[],
  { nowMs, hasRefusals }: { nowMs: number; hasRefusals: boolean },
): z.infer<typeof Metrics> => {
  // The current point, and with it the window, has only lasted until now.
  const lengthOf = (startMs: number, endMs: number): number => Math.max(Math.min(endMs, nowMs) - startMs, SECOND_MS);
  const areKept = (ms: number): boolean => hasRefusals && areRefusalsKept(ms, nowMs);
  return {
    object: 'metrics',
    start_time: fromMs / SECOND_MS,
    end_time: toMs / SECOND_MS,
    resolution_seconds: SPAN_MS[span] / SECOND_MS,
    series: series.map(({ by, points, sum }) => ({
      organization: by.organization ?? null,
      project_id: by.project_id ?? null,
      api_key_id: by.api_key_id ?? null,
      user_id: by.user_id ?? null,
      model: by.model ?? null,
      route: by.route ?? null,
      deployment: by.deployment ?? null,
      alias: by.alias ?? null,
      side: by.side ?? null,
      points: [...points]
        .sort(([a], [b]) => a - b)
        .map(([startMs, activity]) => ({
          start_time: startMs / SECOND_MS,
          ...valuesOf(activity, lengthOf(startMs, startMs + SPAN_MS[span]), areKept(startMs)),
        })),
      totals: valuesOf(sum, lengthOf(fromMs, toMs), areKept(toMs - 1)),
    })),
  };
};
