import { commit } from '../../../../shared/audit/commit.ts';
import { endedAs, isOpen } from '../../../../shared/deployments/benchmark.ts';
import { PreconditionFailed, ResourceNotFound } from '../../../../shared/http/errors.ts';
import type { Actor } from '../../access/actor.ts';
import { retryOvertaken } from '../../retry-overtaken.ts';
import { visibleDeployment } from '../find-deployment.ts';
import type { DeploymentBenchmark } from './benchmark-resource.ts';
import { retrieveBenchmark } from './retrieve-benchmark.ts';
import type { BenchmarkWrites } from './start-benchmark.ts';

// The function that runs the benchmark writes every few seconds.
const MAX_TRIES = 8;

const tryToCancel = async (deps: BenchmarkWrites, actor: Actor, id: string): Promise<void> => {
  const benchmark = await deps.benchmarks.find(id);
  if (!benchmark) throw new ResourceNotFound('benchmark', id);
  if (!isOpen(benchmark)) return;
  const { organization, status } = benchmark;
  const audited = {
    action: 'benchmark.cancelled',
    organization,
    target: { type: 'deployment', id },
    before: { status },
    after: { status: 'stopped' },
  };
  const cancelled = endedAs(benchmark, 'stopped', 'cancelled', actor.origin.nowMs);
  await commit(deps, actor.origin, audited, [...deps.users.toCheckActor(actor), deps.benchmarks.toReplace(cancelled)]);
};

/**
 * Cancels the benchmark of a deployment: within seconds, its requests are aborted. Does nothing if it has ended.
 * @throws 403, 404 also if there was none, 503
 */
export const cancelBenchmark = async (deps: BenchmarkWrites, actor: Actor, id: string): Promise<DeploymentBenchmark> => {
  await visibleDeployment(deps, actor, id);
  await retryOvertaken({ what: `The benchmark of ${id}`, maxTries: MAX_TRIES, by: [PreconditionFailed] }, () =>
    tryToCancel(deps, actor, id),
  );
  return retrieveBenchmark(deps, actor, id);
};
