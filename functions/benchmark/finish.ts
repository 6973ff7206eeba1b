import type { AuditStore } from '../../shared/audit/audit-store.ts';
import { toRecord } from '../../shared/audit/commit.ts';
import { systemOrigin } from '../../shared/audit/origin.ts';
import type { Write } from '../../shared/database/transaction.ts';
import type { Benchmark, BenchmarkCurve, BenchmarkPoint } from '../../shared/deployments/benchmark.ts';
import type { BenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import type { Deployment } from '../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { newNotification } from '../../shared/notifications/notification.ts';
import type { Outbox } from '../../shared/notifications/outbox.ts';
import { LeaseLost, type Session } from './session.ts';
import type { SweepStep } from './sweep.ts';

// The organization is notified if the rate of tokens differs from an earlier one by more than this.
const DRIFT_PERCENT = 15;
// The mean lengths of two mixes that are alike differ by at most this.
const LIKE_PERCENT = 10;
const PERCENT = 100;
// Passes of the reconciler can write the deployment first this often.
const MAX_END_ATTEMPTS = 8;

export interface ResultDependencies {
  deployments: Pick<DeploymentStore, 'find' | 'toReplace'>;
  benchmarks: BenchmarkStore;
  audit: AuditStore;
  outbox: Outbox;
  now: () => number;
}

type Result = Extract<SweepStep, { kind: 'end' }>;
type Mix = Benchmark['mix'];

const meanOf = (mix: Mix, tokensOf: (entry: Mix[number]) => number): number =>
  mix.reduce((sum, entry) => sum + tokensOf(entry) * entry.weight, 0) / mix.reduce((sum, { weight }) => sum + weight, 0);

const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= (Math.max(one, other) * LIKE_PERCENT) / PERCENT;

const isAlike = (one: BenchmarkCurve, other: BenchmarkCurve): boolean =>
  one.model === other.model &&
  one.instance_type === other.instance_type &&
  one.accelerators === other.accelerators &&
  one.goals.ttft_p95_ms === other.goals.ttft_p95_ms &&
  one.goals.inter_token_p95_ms === other.goals.inter_token_p95_ms &&
  isNear(
    meanOf(one.mix, (entry) => entry.prompt_tokens),
    meanOf(other.mix, (entry) => entry.prompt_tokens),
  ) &&
  isNear(
    meanOf(one.mix, (entry) => entry.completion_tokens),
    meanOf(other.mix, (entry) => entry.completion_tokens),
  );

// Of one copy, since the number of copies can differ.
const rateOf = ({ tokens_per_second, copies }: BenchmarkPoint): number => tokens_per_second / copies;
const kneeOf = ({ points, result }: BenchmarkCurve): BenchmarkPoint | undefined =>
  points.find(({ concurrency_per_copy }) => concurrency_per_copy === result);

// Compares with the newest earlier benchmark of the same model, instance type, goals and mean lengths.
const driftOf = (curve: BenchmarkCurve, earlier: readonly BenchmarkCurve[]): Benchmark['drift'] => {
  const last = earlier.findLast((other) => isAlike(curve, other) && kneeOf(other) !== undefined);
  const before = last && kneeOf(last);
  const knee = kneeOf(curve);
  if (!before || !knee) return undefined;
  const [is, was] = [Math.round(rateOf(knee)), Math.round(rateOf(before))];
  if (was === 0) return undefined;
  const percent = Math.round(((is - was) * PERCENT) / was);
  return Math.abs(percent) > DRIFT_PERCENT
    ? { benchmark: last.id, tokens_per_second: is, earlier_tokens_per_second: was, percent }
    : undefined;
};

const curveOf = (row: Benchmark, { because, concurrencyPerCopy }: Result, nowMs: number): BenchmarkCurve => {
  const { id, generation, model, runtime, instance_type, accelerators, goals, mix, max_concurrency_per_copy, points } = row;
  const subject = { generation, model, runtime, instance_type, accelerators, goals, mix, max_concurrency_per_copy };
  return { id, ended_at: nowMs, ...subject, points, result: concurrencyPerCopy, end: because };
};

const appliedTo = (
  deployment: Deployment | undefined,
  { apply, changes }: Benchmark,
  { concurrencyPerCopy }: Result,
): Benchmark['applied'] => {
  if (!apply) return undefined;
  if (concurrencyPerCopy === null) return 'no_result';
  if (deployment?.changes !== changes) return 'changed_meanwhile';
  return deployment.max_concurrency_per_copy === concurrencyPerCopy ? 'unchanged' : 'applied';
};

// The change that a PATCH makes, recorded as the system's because no person sends it.
const toApply = ({ deployments, audit }: ResultDependencies, before: Deployment, concurrency: number, nowMs: number): Write[] => {
  const { id, organization, max_concurrency_per_copy } = before;
  const after = { ...before, max_concurrency_per_copy: concurrency, changes: before.changes + 1, updated_at: nowMs };
  const change = {
    action: 'deployment.updated',
    organization,
    target: { type: 'deployment', id },
    reason: 'The result of its benchmark.',
    before: { max_concurrency_per_copy },
    after: { max_concurrency_per_copy: concurrency },
  };
  return [deployments.toReplace(after), toRecord(audit, systemOrigin('benchmark', nowMs), change)];
};

const driftNotification = (
  { id, deployment, organization }: Benchmark,
  name: string,
  { benchmark: earlier, ...rates }: NonNullable<Benchmark['drift']>,
  at: number,
) =>
  newNotification({
    type: 'sluice.deployment.benchmark_drifted.v1',
    organization,
    subject: deployment,
    at,
    data: { deployment, name, benchmark: id, earlier_benchmark: earlier, ...rates },
  });

const tryToFinish = async (deps: ResultDependencies, session: Session, result: Result): Promise<void> => {
  const row = session.row();
  const nowMs = deps.now();
  const [deployment, kept] = await Promise.all([deps.deployments.find(row.deployment), deps.benchmarks.curves(row.deployment)]);
  const curve = curveOf(row, result, nowMs);
  const applied = appliedTo(deployment, row, result);
  const drift = driftOf(curve, kept.curves);
  const change = { result: result.concurrencyPerCopy, ...(applied && { applied }), ...(drift && { drift }) };
  await session.end('finished', result.because, change, [
    deps.benchmarks.toKeepCurve(row.deployment, kept, curve),
    ...(applied === 'applied' && deployment ? toApply(deps, deployment, result.concurrencyPerCopy as number, nowMs) : []),
    ...(drift && deployment ? [deps.outbox.toEmit(driftNotification(row, deployment.name, drift, nowMs))] : []),
  ]);
};

/**
 * Ends a benchmark that came to its result: in one transaction, it keeps the curve, writes the result to the deployment
 * if its owner wants that and has not changed it meanwhile, and notifies of a drift.
 * @throws LeaseLost if the benchmark was cancelled, or other writes were always faster
 */
export const finish = async (deps: ResultDependencies, session: Session, result: Result): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryToFinish(deps, session, result);
    } catch (error) {
      if (!(error instanceof LeaseLost) || attempt === MAX_END_ATTEMPTS) throw error;
      const current = await deps.benchmarks.find(session.row().deployment);
      if (current?.version !== session.row().version) throw error;
    }
  }
};
