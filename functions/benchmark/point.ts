import type { BenchmarkGoals, BenchmarkPoint } from '../../shared/deployments/benchmark.ts';
import type { LevelSamples, Sample } from './measure-level.ts';

const HOUR_SECONDS = 3_600;
const TOKENS_PER_MILLION = 1_000_000;
const MEDIAN = 50;
const P95 = 95;
const SECOND_MS = 1_000;
const PARTS_OF_MS = 100;

// The least value that so many percent don't exceed.
const percentile = (sorted: readonly number[], percent: number): number =>
  sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;

// Rounded up, so that a time beyond its goal is never written as one that meets it. A whole millisecond can be a tenth
// of a fast model's time.
const roundedUp = (ms: number): number => Math.ceil(ms * PARTS_OF_MS) / PARTS_OF_MS;

const timesOf = (values: readonly number[]): { p50: number; p95: number } => {
  const sorted = values.toSorted((one, other) => one - other);
  return { p50: roundedUp(percentile(sorted, MEDIAN)), p95: roundedUp(percentile(sorted, P95)) };
};

const sumOf = (samples: readonly Sample[], value: (sample: Sample) => number): number =>
  samples.reduce((sum, sample) => sum + value(sample), 0);

// Little's law: so many requests at the same time, each as long as its answer takes.
const perSecond = (tokens: number, concurrency: number, durationMs: number): number =>
  durationMs > 0 ? (tokens * concurrency * SECOND_MS) / durationMs : 0;

interface LevelFacts {
  concurrencyPerCopy: number;
  copies: number;
  goals: BenchmarkGoals;
  /** The price of the deployment's instances, in nano-dollars an hour. */
  hourNanos: number;
  nowMs: number;
}

/** The point of a level on the curve. A level without an answer, or with a failed request, misses the goals. */
export const pointOf = ({ samples, failures }: LevelSamples, facts: LevelFacts): BenchmarkPoint => {
  const { concurrencyPerCopy, copies, goals, hourNanos, nowMs } = facts;
  const promptTokens = sumOf(samples, (sample) => sample.promptTokens);
  const completionTokens = sumOf(samples, (sample) => sample.completionTokens);
  const durationMs = sumOf(samples, (sample) => sample.durationMs);
  const concurrency = concurrencyPerCopy * copies;
  const ttft = timesOf(samples.map((sample) => sample.ttftMs));
  const interToken = timesOf(samples.flatMap(({ interTokenMs }) => (interTokenMs === undefined ? [] : [interTokenMs])));
  const allPerSecond = perSecond(promptTokens + completionTokens, concurrency, durationMs);
  const isMeasured = samples.length > 0 && failures.length === 0;
  return {
    at: nowMs,
    concurrency_per_copy: concurrencyPerCopy,
    copies,
    requests: samples.length,
    failed_requests: failures.length,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    ttft_ms: ttft,
    inter_token_ms: interToken,
    tokens_per_second: Math.round(perSecond(completionTokens, concurrency, durationMs)),
    million_nanos: allPerSecond === 0 ? null : Math.round((hourNanos / HOUR_SECONDS / allPerSecond) * TOKENS_PER_MILLION),
    meets_goals: isMeasured && ttft.p95 <= goals.ttft_p95_ms && interToken.p95 <= goals.inter_token_p95_ms,
  };
};
