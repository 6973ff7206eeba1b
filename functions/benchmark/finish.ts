import type { AuditStore } from '../../shared/audit/audit-store.ts';
import { toRecord } from '../../shared/audit/commit.ts';
import { systemOrigin } from '../../shared/audit/origin.ts';
import type { Write } from '../../shared/database/transaction.ts';
import type { Benchmark, BenchmarkCurve } from '../../shared/deployments/benchmark.ts';
import { driftOf } from '../../shared/deployments/benchmark-drift.ts';
import type { BenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import type { Deployment } from '../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { newNotification } from '../../shared/notifications/notification.ts';
import type { Outbox } from '../../shared/notifications/outbox.ts';
import { LeaseLost, type Session } from './session.ts';
import type { SweepStep } from './sweep.ts';

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
