import * as z from 'zod';
import {
  type Benchmark,
  BenchmarkApplied,
  type BenchmarkCurve,
  BenchmarkEnd,
  BenchmarkGoals,
  type BenchmarkPoint,
  BenchmarkStatus,
  MAX_BENCHMARK_MS,
  MixEntry,
  type SpeedWatch,
} from '../../../../shared/deployments/benchmark.ts';
import { driftOf } from '../../../../shared/deployments/benchmark-drift.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { MINUTE_MS, unixSeconds } from '../../../../shared/time/units.ts';

const Time = z.int().meta({ description: 'Unix seconds.' });
const Money = z.string().meta({ description: 'Dollars: an exact decimal number.', examples: ['1.25'] });
const Times = z.object({ p50: z.number(), p95: z.number() });

const Point = z.object({
  concurrency_per_copy: z.int().meta({ description: 'Requests at the same time on a copy.' }),
  copies: z.int(),
  requests: z.int().meta({ description: 'The requests that count. Those that only fill the copies are left out.' }),
  failed_requests: z.int(),
  prompt_tokens: z.int().meta({ description: 'Of these requests together, as the runtime counted them.' }),
  completion_tokens: z.int(),
  ttft_ms: Times.meta({ description: 'Milliseconds until the first token, rounded up to hundredths.' }),
  inter_token_ms: Times.meta({
    description: 'Milliseconds between two tokens of an answer, on average of the answer, rounded up to hundredths.',
  }),
  tokens_per_second: z.int().meta({ description: 'Generated tokens of all copies.' }),
  cost_per_million: Money.nullable().meta({
    description: 'GPU time for a million tokens, prompts included, if the deployment is always so busy.',
  }),
  meets_goals: z.boolean(),
});

const MAX_MINUTES = MAX_BENCHMARK_MS / MINUTE_MS;

const MESSAGES: Readonly<Record<BenchmarkEnd, string>> = {
  goal_missed: 'More requests at the same time would miss a goal.',
  never_met: 'Even a single request misses a goal. Choose other goals, or a faster instance type.',
  max_reached: 'Even the largest number of requests to measure meets the goals. Raise max_concurrency_per_copy to measure more.',
  budget_spent: 'Another level could have exceeded the budget. The result is the best of those that were measured. Start again with more.',
  cancelled: 'Someone cancelled it.',
  deployment_changed: 'The deployment got another generation. Start again once its rollout is complete.',
  not_in_service: 'The deployment went to sleep, or was stopped or deleted. Start again once it is in service.',
  took_too_long: `It ran for ${MAX_MINUTES} minutes. Send shorter lengths in \`mix\`, or a smaller max_concurrency_per_copy.`,
  requests_failed: 'The deployment answered no request. See its logs, and try a request of your own.',
  runner_failed: 'It was started 20 times and never completed. Start it again.',
};

const End = z.object({ code: BenchmarkEnd, message: z.string() });

const subject = {
  generation: z.int(),
  model: z.string(),
  runtime: z.string(),
  instance_type: z.string(),
  goals: BenchmarkGoals,
  mix: z.array(MixEntry),
  max_concurrency_per_copy: z.int().meta({ description: 'The most requests at the same time on a copy that were to be measured.' }),
};
const result = {
  end: End.nullable().meta({ description: 'Why it ended; null: it has not.' }),
  result: z
    .int()
    .nullable()
    .meta({ description: 'The most requests at the same time on a copy that meet the goals; null: none do, or not known.' }),
  points: z.array(Point).meta({ description: 'In the order of the requests at the same time.' }),
};

const Drift = z
  .object({
    benchmark: z.string(),
    percent: z.int().meta({ description: 'Negative: it is slower now.' }),
    tokens_per_second: z.int(),
    earlier_tokens_per_second: z.int(),
  })
  .nullable()
  .meta({
    description:
      "By how much the rate of a copy differs from an earlier benchmark's of the same model, instance type, goals and similar lengths; null: by at most 15 %, or there is none.",
  });

const LiveDrift = z
  .object({
    is_drifted: z.boolean().meta({ description: 'The owners were notified, and it has not been within 10 % since.' }),
    notified_at: Time.nullable().meta({ description: 'Unix seconds of the last notification; null: there was none.' }),
    spans_beyond: z.int().meta({
      description: 'How many spans of ten minutes in succession differed by more than 20 %, at most 3; negative: they were slower.',
    }),
    last_span: z
      .object({
        benchmark: z.string().meta({ description: 'The one whose curve the requests were compared with.' }),
        ended_at: Time,
        percent: z
          .int()
          .meta({ description: 'By how many percent the median of the tokens a second of an answer differed; negative: slower.' }),
      })
      .nullable()
      .meta({ description: 'The last ten minutes with enough requests; null: there were none.' }),
  })
  .nullable()
  .meta({
    description:
      "How the deployment's own requests compare with the newest curve since this benchmark ended; null: the first span of ten minutes has not begun.",
  });

const OneBenchmark = z.object({
  id: z.string(),
  status: BenchmarkStatus,
  created_at: Time,
  started_at: Time.nullable(),
  ended_at: Time.nullable(),
  ...subject,
  mix_source: z.enum(['own', 'given']).meta({ description: "`own`: the lengths of the deployment's own requests." }),
  budget: Money,
  spent: Money.meta({ description: 'GPU time that it has taken, and what is held for the next seconds.' }),
  sent_requests: z.int(),
  other_requests: z
    .int()
    .nullable()
    .meta({ description: 'Requests of your organization in the same minutes, which make it slower; null: not known any more.' }),
  apply: z.boolean(),
  applied: BenchmarkApplied.nullable().meta({ description: 'Null: it was not wanted, or has not ended.' }),
  ...result,
  drift: Drift,
  live_drift: LiveDrift,
});

const Curve = z.object({ id: z.string(), ended_at: Time, ...subject, ...result, drift: Drift });

export const DeploymentBenchmark = z.object({
  object: z.literal('deployment.benchmark'),
  deployment: z.string(),
  benchmark: OneBenchmark.nullable().meta({ description: 'The newest one; null: there was none.' }),
  curves: z.array(Curve).meta({ description: 'The results of the last ten, newest first.' }),
});
export type DeploymentBenchmark = z.infer<typeof DeploymentBenchmark>;

export const BenchmarkEstimate = z.object({
  object: z.literal('deployment.benchmark_estimate'),
  price_per_hour: Money.meta({ description: 'Of the instances that run now.' }),
  least_budget: Money.meta({ description: 'A level of the sweep must be paid, with as many instances as the deployment can have.' }),
  most_cost: Money.meta({
    description: `What ${MAX_MINUTES} minutes cost, the longest that it can take, with the instances that run now.`,
  }),
  mix: z.array(MixEntry),
  mix_source: z.enum(['own', 'given']),
});
export type BenchmarkEstimate = z.infer<typeof BenchmarkEstimate>;

const secondsOrNull = (ms: number | undefined): number | null => (ms === undefined ? null : unixSeconds(ms));

const pointsOf = (points: readonly BenchmarkPoint[]): z.infer<typeof Point>[] =>
  points
    .toSorted((one, other) => one.concurrency_per_copy - other.concurrency_per_copy)
    .map(({ at: _, million_nanos, ...point }) => ({
      ...point,
      cost_per_million: million_nanos === null ? null : dollarsOf(BigInt(million_nanos)),
    }));

const endOf = (end: BenchmarkEnd | undefined): z.infer<typeof End> | null => (end ? { code: end, message: MESSAGES[end] } : null);

const subjectOf = ({ generation, model, runtime, instance_type, goals, mix, max_concurrency_per_copy }: Benchmark | BenchmarkCurve) => ({
  generation,
  model,
  runtime,
  instance_type,
  goals,
  mix,
  max_concurrency_per_copy,
});

const curveOf = (curve: BenchmarkCurve, earlier: readonly BenchmarkCurve[]): z.infer<typeof Curve> => ({
  id: curve.id,
  ended_at: unixSeconds(curve.ended_at),
  ...subjectOf(curve),
  end: endOf(curve.end),
  result: curve.result,
  points: pointsOf(curve.points),
  drift: driftOf(curve, earlier) ?? null,
});

const liveDriftOf = (watch: SpeedWatch | undefined): z.infer<typeof LiveDrift> =>
  watch
    ? {
        is_drifted: watch.is_drifted,
        notified_at: secondsOrNull(watch.notified_at),
        spans_beyond: watch.beyond,
        last_span: watch.compared
          ? { benchmark: watch.compared.benchmark, ended_at: unixSeconds(watch.compared.until), percent: watch.compared.percent }
          : null,
      }
    : null;

const oneOf = (benchmark: Benchmark, otherRequests: number | null): z.infer<typeof OneBenchmark> => ({
  id: benchmark.id,
  status: benchmark.status,
  created_at: unixSeconds(benchmark.created_at),
  started_at: secondsOrNull(benchmark.started_at),
  ended_at: secondsOrNull(benchmark.ended_at),
  ...subjectOf(benchmark),
  mix_source: benchmark.mix_source,
  budget: dollarsOf(benchmark.budget_nanos),
  spent: dollarsOf(benchmark.spent_nanos),
  sent_requests: benchmark.sent,
  other_requests: otherRequests,
  apply: benchmark.apply,
  applied: benchmark.applied ?? null,
  end: endOf(benchmark.end),
  result: benchmark.result ?? null,
  points: pointsOf(benchmark.points),
  drift: benchmark.drift ?? null,
  live_drift: liveDriftOf(benchmark.watch),
});

/** A deployment's newest benchmark and its curves on the wire. @param curves oldest first */
export const toBenchmarkResource = (
  deployment: string,
  {
    benchmark,
    otherRequests,
    curves,
  }: { benchmark: Benchmark | undefined; otherRequests: number | null; curves: readonly BenchmarkCurve[] },
): DeploymentBenchmark => ({
  object: 'deployment.benchmark',
  deployment,
  benchmark: benchmark ? oneOf(benchmark, otherRequests) : null,
  curves: curves.map((curve, i) => curveOf(curve, curves.slice(0, i))).toReversed(),
});
