import { type BenchmarkCurve, type BenchmarkPoint, hasLikeLengths, meanRequestMs } from '../../../shared/deployments/benchmark.ts';

/** A request that a deployment answered. */
export interface AnsweredRequest {
  /** When its first token came, and when its answer was complete, in milliseconds since the epoch. */
  firstMs: number;
  endMs: number;
  promptTokens: number;
  completionTokens: number;
}

interface Span {
  fromMs: number;
  toMs: number;
  /** The copies that served, among which requests are spread evenly. */
  copies: number;
}

// As many as each level of a benchmark.
const LEAST_REQUESTS = 30;
// In a short answer, the milliseconds in which a request is settled count for too much.
const LEAST_TOKENS = 50;
// The mean lengths of requests that are alike differ by at most this.
const LIKE_PERCENT = 25;
const PERCENT = 100;

// The time between tokens while so many requests of a copy receive tokens.
interface Step {
  /** On average: others wait for their first one. */
  generating: number;
  /** At most. */
  requests: number;
  interTokenMs: number;
}

const clamped = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

// By the means of a level, which its percentiles bound: those of older releases are rounded up to milliseconds.
const stepsOf = (points: readonly BenchmarkPoint[]): Step[] =>
  points
    .flatMap((point): Step[] => {
      const { requests, failed_requests, completion_tokens, concurrency_per_copy } = point;
      const requestMs = meanRequestMs(point);
      if (failed_requests > 0 || requestMs === 0 || completion_tokens <= requests) return [];
      const generationMs = Math.max(0, requestMs - point.ttft_ms.p50);
      const meanMs = (generationMs * requests) / (completion_tokens - requests);
      const { p50, p95 } = point.inter_token_ms;
      const interTokenMs = clamped(meanMs, p50 - 1, p95);
      const generating = (concurrency_per_copy * generationMs) / requestMs;
      return interTokenMs > 0 ? [{ generating, requests: concurrency_per_copy, interTokenMs }] : [];
    })
    .sort((one, other) => one.generating - other.generating);

// Interpolates between two steps, and extrapolates from the last one up to its `requests`. Undefined beyond that.
const interTokenAt = (steps: readonly Step[], generating: number): number | undefined => {
  const last = steps.length - 1;
  if (generating > (steps[last]?.requests ?? 0)) return undefined;
  const above = steps.findIndex((step) => step.generating >= generating);
  const [before, after] = above === -1 ? [steps[last - 1], steps[last]] : [steps[above - 1], steps[above]];
  if (!after || !before) return after?.interTokenMs;
  const share = (generating - before.generating) / (after.generating - before.generating);
  return before.interTokenMs + share * (after.interTokenMs - before.interTokenMs);
};

interface Compared {
  request: AnsweredRequest;
  /** Its tokens after the first one, as a share of those that the curve gives in its time; undefined: not known. */
  ratio: number | undefined;
}

// Compares each request with the tokens that the curve gives for as many requests as received tokens at each moment.
const compare = (requests: readonly AnsweredRequest[], steps: readonly Step[], copies: number): Compared[] => {
  const edges = requests
    .flatMap((request) => [
      { atMs: request.firstMs, change: 1, request },
      { atMs: request.endMs, change: -1, request },
    ])
    .sort((one, other) => one.atMs - other.atMs);
  const begun = new Map<AnsweredRequest, { tokens: number; unknownMs: number }>();
  const compared: Compared[] = [];
  let [generating, tokens, unknownMs, lastMs] = [0, 0, 0, 0];
  for (const { atMs, change, request } of edges) {
    const interTokenMs = generating > 0 ? interTokenAt(steps, generating / copies) : 1;
    if (interTokenMs === undefined) unknownMs += atMs - lastMs;
    else tokens += (atMs - lastMs) / interTokenMs;
    lastMs = atMs;
    generating += change;
    if (change > 0) begun.set(request, { tokens, unknownMs });
    const first = change < 0 ? begun.get(request) : undefined;
    if (!first) continue;
    const expected = tokens - first.tokens;
    const isKnown = expected > 0 && unknownMs === first.unknownMs;
    compared.push({ request, ratio: isKnown ? (request.completionTokens - 1) / expected : undefined });
  }
  return compared;
};

const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
};

/**
 * By how many percent the tokens a second of a deployment's requests differ from its curve, with the same number of
 * requests at the same time; negative: they are slower. It is the median of the requests that were answered in a span
 * of time, so a few clients that read slowly don't count.
 * @param requests also those that were answered partly in the span, and shortly before and after it
 * @returns undefined if too few requests can be compared, or their lengths differ from those of the curve
 */
export const speedDifference = (
  requests: readonly AnsweredRequest[],
  curve: Pick<BenchmarkCurve, 'points' | 'mix'>,
  { fromMs, toMs, copies }: Span,
): number | undefined => {
  const compared = compare(
    requests.filter(({ firstMs, endMs }) => endMs > firstMs),
    stepsOf(curve.points),
    copies,
  ).filter(
    ({ request, ratio }) =>
      ratio !== undefined && request.completionTokens >= LEAST_TOKENS && request.firstMs >= fromMs && request.endMs <= toMs,
  );
  if (compared.length < LEAST_REQUESTS) return undefined;
  const lengths = compared.map(({ request: { promptTokens, completionTokens } }) => ({
    weight: 1,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
  }));
  if (!hasLikeLengths(lengths, curve.mix, LIKE_PERCENT)) return undefined;
  return Math.round((medianOf(compared.map(({ ratio = 0 }) => ratio)) - 1) * PERCENT);
};
