import type { Database } from '../../../shared/database/database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { type Benchmark, type BenchmarkCurve, isOpen, type SpeedWatch } from '../../../shared/deployments/benchmark.ts';
import type { BenchmarkStore } from '../../../shared/deployments/benchmark-store.ts';
import { type Deployment, isActive } from '../../../shared/deployments/deployment.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { requestTimeMs } from '../../../shared/ids/request-id.ts';
import { logError } from '../../../shared/logging/log.ts';
import { newNotification } from '../../../shared/notifications/notification.ts';
import type { Outbox } from '../../../shared/notifications/outbox.ts';
import type { RequestRow } from '../../../shared/observability/request-row.ts';
import type { RequestRowStore } from '../../../shared/observability/request-row-store.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { followDrift } from './follow-drift.ts';
import { type AnsweredRequest, speedDifference } from './speed-difference.ts';

export interface WatchDependencies {
  database: Database;
  benchmarks: Pick<BenchmarkStore, 'curves' | 'toReplace'>;
  requestRows: Pick<RequestRowStore, 'page'>;
  outbox: Outbox;
  now: () => number;
}

const SPAN_MS = 10 * MINUTE_MS;
// Then the rows of its requests are known, also of those that ended after it.
const LAG_MS = 5 * MINUTE_MS;
// Requests that began before a span and are answered in it.
const BEFORE_MS = 5 * MINUTE_MS;
const MAX_ROWS = 3_000;
const MAX_READ = 6_000;

const NEW: Pick<SpeedWatch, 'beyond' | 'is_drifted'> = { beyond: 0, is_drifted: false };

// A shared model also has requests of other organizations in flight.
const canCompareNow = ({ wanted, state, generations, published_as, meter }: Deployment, benchmark: Benchmark): boolean => {
  const [active, ...others] = generations.filter(isActive);
  return (
    wanted === 'running' &&
    state === 'in_service' &&
    published_as === undefined &&
    others.length === 0 &&
    active?.number === benchmark.generation &&
    (meter?.running ?? []).every(({ instance_type }) => instance_type === benchmark.instance_type)
  );
};

const answeredOf = (row: RequestRow): AnsweredRequest[] => {
  const { request_id, time_to_first_token_ms: firstMs, duration_ms, prompt_tokens, completion_tokens } = row;
  if (firstMs === null) return [];
  const startMs = requestTimeMs(request_id);
  return [{ firstMs: startMs + firstMs, endMs: startMs + duration_ms, promptTokens: prompt_tokens, completionTokens: completion_tokens }];
};

interface Answered {
  requests: AnsweredRequest[];
  /** From then on, all that were in flight are known. */
  fromMs: number;
}

// If there are too many, the newest are read. Those that were in flight then have ended after the longest answer.
const readAnswered = async ({ requestRows }: WatchDependencies, { id, organization }: Deployment, fromMs: number): Promise<Answered> => {
  const page = await requestRows.page({
    organization,
    fromMs: fromMs - BEFORE_MS,
    toMs: fromMs + SPAN_MS,
    isFailed: false,
    matches: ({ deployment }) => deployment === id,
    limit: MAX_ROWS,
    maxRead: MAX_READ,
  });
  const requests = page.rows.flatMap(answeredOf);
  if (page.next === undefined) return { requests, fromMs };
  const longestMs = page.rows.reduce((most, { duration_ms }) => Math.max(most, duration_ms), 0);
  return { requests, fromMs: Math.max(fromMs, page.searchedToMs + longestMs) };
};

const curveOf = async ({ benchmarks }: WatchDependencies, benchmark: Benchmark): Promise<BenchmarkCurve | undefined> => {
  const { curves } = await benchmarks.curves(benchmark.deployment);
  return curves.findLast(
    ({ generation, instance_type }) => generation === benchmark.generation && instance_type === benchmark.instance_type,
  );
};

const differenceIn = async (deps: WatchDependencies, benchmark: Benchmark, deployment: Deployment, watch: SpeedWatch) => {
  const curve = await curveOf(deps, benchmark);
  if (!curve) return undefined;
  const { requests, fromMs } = await readAnswered(deps, deployment, watch.from);
  const percent = speedDifference(requests, curve, { fromMs, toMs: watch.from + SPAN_MS, copies: watch.copies });
  return percent === undefined ? undefined : { percent, curve: curve.id };
};

const notificationOf = ({ id, organization, name }: Deployment, { percent, curve }: { percent: number; curve: string }, at: number) =>
  newNotification({
    type: 'sluice.deployment.speed_drifted.v1',
    organization,
    subject: id,
    at,
    data: { deployment: id, name, benchmark: curve, percent },
  });

// The times at which the copies or the state changed begin a span.
const isInterrupted = ({ state_since, progress }: Deployment, { from, copies }: SpeedWatch): boolean =>
  state_since > from || progress.ready !== copies;

const compareSpan = async (deps: WatchDependencies, benchmark: Benchmark, deployment: Deployment, watch: SpeedWatch): Promise<void> => {
  const nowMs = deps.now();
  const difference = await differenceIn(deps, benchmark, deployment, watch);
  const { state, isNotified } = difference ? followDrift(watch, difference.percent, nowMs) : { state: watch, isNotified: false };
  const until = watch.from + SPAN_MS;
  const compared = difference ? { benchmark: difference.curve, until, percent: difference.percent } : watch.compared;
  const next: SpeedWatch = { ...state, from: until, copies: watch.copies, ...(compared && { compared }) };
  await transact(deps.database, [
    deps.benchmarks.toReplace({ ...benchmark, watch: next }),
    ...(isNotified && difference ? [deps.outbox.toEmit(notificationOf(deployment, difference, nowMs))] : []),
  ]);
};

const watch = async (deps: WatchDependencies, benchmark: Benchmark, deployment: Deployment): Promise<void> => {
  if (isOpen(benchmark) || !canCompareNow(deployment, benchmark) || deployment.progress.ready === 0) return;
  const nowMs = deps.now();
  const { watch: known } = benchmark;
  // A pass that was late doesn't compare a span that is long past.
  const isDue = known !== undefined && nowMs >= known.from + SPAN_MS + LAG_MS;
  const isLate = known !== undefined && nowMs >= known.from + 2 * SPAN_MS + LAG_MS;
  if (!known || isInterrupted(deployment, known) || isLate) {
    const begun = { ...NEW, ...known, from: nowMs, copies: deployment.progress.ready };
    return transact(deps.database, [deps.benchmarks.toReplace({ ...benchmark, watch: begun })]);
  }
  if (isDue) await compareSpan(deps, benchmark, deployment, known);
};

/**
 * Compares the requests of a deployment, every ten minutes in which its copies were the same, with the kept curve of
 * its generation, and notifies its owners of a drift. Never throws: a later pass compares another span.
 */
export const watchSpeed = async (deps: WatchDependencies, benchmark: Benchmark, deployment: Deployment): Promise<void> => {
  try {
    await watch(deps, benchmark, deployment);
  } catch (error) {
    // Another pass has written it, or a benchmark was started.
    if (!(error instanceof PreconditionFailed)) logError('speed_not_compared', error, { deployment: deployment.id });
  }
};
