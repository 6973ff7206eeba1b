import * as z from 'zod';
import { StoredInteger } from '../database/stored-integer.ts';
import { MINUTE_MS, SECOND_MS } from '../time/units.ts';

const UnixMs = z.int().min(0);

// More levels than a sweep needs.
const MAX_POINTS = 24;
/** The most kinds of requests in a mix. */
export const MAX_MIX = 20;
/** The most benchmarks of a deployment whose curves are kept: the newest. */
export const MAX_CURVES = 10;

/** The longest that one level is measured. */
export const LEVEL_MS = 90_000;
/** The longest that a benchmark runs: all levels, and the pauses between functions that run it. */
export const MAX_BENCHMARK_MS = 90 * MINUTE_MS;
/** The most requests of a benchmark at the same time: one function sends them and reads their answers. */
export const MAX_IN_FLIGHT = 256;

/** The goals, in milliseconds: 95 of 100 requests must not take longer. */
export const BenchmarkGoals = z.object({ ttft_p95_ms: z.int().min(1), inter_token_p95_ms: z.int().min(1) });
export type BenchmarkGoals = z.infer<typeof BenchmarkGoals>;

/** One kind of request: its lengths, and how often it is sent in comparison with the others. */
export const MixEntry = z.object({ prompt_tokens: z.int().min(1), completion_tokens: z.int().min(1), weight: z.int().min(1) });
export type MixEntry = z.infer<typeof MixEntry>;

// Milliseconds, also parts of them.
const Times = z.object({ p50: z.number().min(0), p95: z.number().min(0) });

/** A point of the curve: the measurements with a number of requests at the same time. */
export const BenchmarkPoint = z.object({
  at: UnixMs,
  concurrency_per_copy: z.int().min(1),
  /** The copies that were ready. */
  copies: z.int().min(1),
  requests: z.int().min(0),
  failed_requests: z.int().min(0),
  /** Tokens of these requests together. */
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  ttft_ms: Times,
  inter_token_ms: Times,
  /** Generated tokens, of all copies. */
  tokens_per_second: z.int().min(0),
  /** The nano-dollars of GPU time for a million tokens, prompts included; null: there were none. */
  million_nanos: z.int().min(0).nullable(),
  meets_goals: z.boolean(),
});
export type BenchmarkPoint = z.infer<typeof BenchmarkPoint>;

/**
 * The mean duration of a level's requests in ms, by Little's law: so many at the same time, of which so many end in a
 * second. 0: no request was answered.
 */
export const meanRequestMs = (point: BenchmarkPoint): number => {
  const { requests, completion_tokens, tokens_per_second, concurrency_per_copy, copies } = point;
  if (requests === 0 || tokens_per_second === 0) return 0;
  return (concurrency_per_copy * copies * SECOND_MS * completion_tokens) / requests / tokens_per_second;
};

/** `queued`: its function has not begun. `stopped`: it ended before its result. The last three are final. */
export const BenchmarkStatus = z.enum(['queued', 'running', 'finished', 'stopped', 'failed']);
export type BenchmarkStatus = z.infer<typeof BenchmarkStatus>;

/** Why a benchmark ended. The first three are those of a sweep that came to its result. */
export const BenchmarkEnd = z.enum([
  'goal_missed',
  'never_met',
  'max_reached',
  'budget_spent',
  'cancelled',
  'deployment_changed',
  'not_in_service',
  'took_too_long',
  'requests_failed',
  'runner_failed',
]);
export type BenchmarkEnd = z.infer<typeof BenchmarkEnd>;

/** `changed_meanwhile`: the owner changed the deployment during the benchmark, so that the result was not written. */
export const BenchmarkApplied = z.enum(['applied', 'unchanged', 'changed_meanwhile', 'no_result']);

// The results of two benchmarks are comparable if these are alike.
const Subject = {
  generation: z.int().min(1),
  model: z.string(),
  runtime: z.string(),
  instance_type: z.string(),
  accelerators: z.int().min(1),
  goals: BenchmarkGoals,
  mix: z.array(MixEntry).min(1).max(MAX_MIX),
  max_concurrency_per_copy: z.int().min(1),
};

/** A benchmark that came to its result. */
export const BenchmarkCurve = z.object({
  id: z.string(),
  ended_at: UnixMs,
  ...Subject,
  points: z.array(BenchmarkPoint).max(MAX_POINTS),
  /** The most requests at the same time on a copy that meet the goals; null: none do. */
  result: z.int().min(1).nullable(),
  end: BenchmarkEnd,
});
export type BenchmarkCurve = z.infer<typeof BenchmarkCurve>;

// The rate of tokens of a copy, and that of an earlier, comparable benchmark.
const Drift = z.object({ benchmark: z.string(), tokens_per_second: z.int(), earlier_tokens_per_second: z.int(), percent: z.int() });

/** How the requests of a deployment compare with its newest curve, as the passes over it have seen. */
export const SpeedWatch = z.object({
  /** The start of the span that is compared next, and the copies that were ready then. */
  from: UnixMs,
  copies: z.int().min(1),
  /** How many spans in succession were slower (negative) or faster by more than the bound. */
  beyond: z.int(),
  /** The owner was notified, and it has not been as before since. */
  is_drifted: z.boolean(),
  notified_at: UnixMs.optional(),
  /** The last span with enough requests, and the benchmark of its curve. Rows of older releases lack it. */
  compared: z.object({ benchmark: z.string(), until: UnixMs, percent: z.int() }).optional(),
});
export type SpeedWatch = z.infer<typeof SpeedWatch>;

/** The newest benchmark of a deployment, at rest. */
export const Benchmark = z.object({
  id: z.string(),
  deployment: z.string(),
  organization: z.string(),
  version: z.int().min(1),
  created_at: UnixMs,
  created_by: z.string(),
  status: BenchmarkStatus,
  ...Subject,
  mix_source: z.enum(['own', 'given']),
  apply: z.boolean(),
  /** The deployment's `changes` when it began: with other ones, nothing is applied. */
  changes: z.int().min(1),
  budget_nanos: StoredInteger,
  /** GPU time that the benchmark has taken, and what is held for the next seconds. */
  spent_nanos: StoredInteger,
  points: z.array(BenchmarkPoint).max(MAX_POINTS),
  /** The requests that were sent. */
  sent: z.int().min(0),
  /** How often a function began to run it. */
  attempts: z.int().min(0),
  /** The function that runs it. Absent: none does. */
  lease: z.object({ owner: z.string(), until: UnixMs }).optional(),
  started_at: UnixMs.optional(),
  ended_at: UnixMs.optional(),
  end: BenchmarkEnd.optional(),
  result: z.int().min(1).nullable().optional(),
  applied: BenchmarkApplied.optional(),
  drift: Drift.optional(),
  /** Since it ended. */
  watch: SpeedWatch.optional(),
});
export type Benchmark = z.output<typeof Benchmark>;

const meanTokens = (mix: readonly MixEntry[], kind: 'prompt_tokens' | 'completion_tokens'): number =>
  mix.reduce((sum, entry) => sum + entry[kind] * entry.weight, 0) / mix.reduce((sum, { weight }) => sum + weight, 0);

/** True if mean prompts and mean answers of two mixes differ by at most so many percent. */
export const hasLikeLengths = (one: readonly MixEntry[], other: readonly MixEntry[], percent: number): boolean =>
  (['prompt_tokens', 'completion_tokens'] as const).every((kind) => {
    const [mean, otherMean] = [meanTokens(one, kind), meanTokens(other, kind)];
    return Math.abs(mean - otherMean) <= (Math.max(mean, otherMean) * percent) / 100;
  });

/** True until a benchmark has ended. */
export const isOpen = ({ status }: Pick<Benchmark, 'status'>): boolean => status === 'queued' || status === 'running';

/** True if a benchmark waits for a function to run it: none has begun, or the one that had has died. */
export const isUnattended = (benchmark: Benchmark, nowMs: number): boolean =>
  isOpen(benchmark) && (benchmark.lease === undefined || benchmark.lease.until <= nowMs);

/** The benchmark after its end. */
export const endedAs = (
  { lease: _, ...benchmark }: Benchmark,
  status: Exclude<BenchmarkStatus, 'queued' | 'running'>,
  end: BenchmarkEnd,
  nowMs: number,
): Benchmark => ({ ...benchmark, status, end, ended_at: nowMs });
