import type { Benchmark } from '../../../../shared/deployments/benchmark.ts';
import type { BenchmarkStore } from '../../../../shared/deployments/benchmark-store.ts';
import { idLike } from '../../../../shared/ids/id.ts';
import { DAY_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import type { OrganizationTotalsStore } from '../../../../shared/usage/organization-totals-store.ts';
import type { Actor } from '../../access/actor.ts';
import { type DeploymentReads, visibleDeployment } from '../find-deployment.ts';
import { type DeploymentBenchmark, toBenchmarkResource } from './benchmark-resource.ts';

export interface BenchmarkReads extends DeploymentReads {
  benchmarks: BenchmarkStore;
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
}

// Totals of minutes are kept for longer than this after a benchmark.
const KNOWN_MS = 6 * DAY_MS;

// Counted a minute late, so that the number can still grow.
const otherRequestsOf = async (
  { organizationTotals }: Pick<BenchmarkReads, 'organizationTotals'>,
  { organization, deployment, started_at, ended_at }: Benchmark,
  nowMs: number,
): Promise<number | null> => {
  const endMs = ended_at ?? nowMs;
  if (started_at === undefined) return 0;
  if (nowMs - endMs > KNOWN_MS) return null;
  const fromMs = Math.floor(started_at / MINUTE_MS) * MINUTE_MS;
  const toMs = Math.ceil(endMs / MINUTE_MS) * MINUTE_MS;
  const ownKey = idLike('key', deployment);
  let requests = 0;
  for await (const row of organizationTotals.list({ organization, span: 'minute', detail: 'key', fromMs, toMs }))
    if (row.deployment === deployment && row.keyId !== ownKey) requests += row.totals.requests;
  return requests;
};

/** The newest benchmark of a deployment, and the curves of the last ones. @throws 404 */
export const retrieveBenchmark = async (deps: BenchmarkReads, actor: Actor, id: string): Promise<DeploymentBenchmark> => {
  await visibleDeployment(deps, actor, id);
  const [benchmark, { curves }] = await Promise.all([deps.benchmarks.find(id), deps.benchmarks.curves(id)]);
  const otherRequests = benchmark ? await otherRequestsOf(deps, benchmark, actor.origin.nowMs) : null;
  return toBenchmarkResource(id, { benchmark, otherRequests, curves });
};
