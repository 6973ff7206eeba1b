import { inBatches } from '../../../shared/database/in-batches.ts';
import type { InstanceType } from '../../../shared/deployments/catalogue.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { instancePriceAt } from '../../../shared/prices/instance-price.ts';
import { MAX_DEPLOYMENTS } from '../deployments/errors.ts';
import type { OrganizationReads, SummaryDependencies } from './summary-reads.ts';
import type { DeploymentsSection } from './summary-resource.ts';

const MAX_FAILED = 5;
const MAX_OF_PLATFORM = 500;
// The most deployments of one read.
const MAX_AT_ONCE = 100;

const costPerHour = (deployments: readonly Deployment[], types: readonly InstanceType[], nowMs: number): bigint => {
  const prices = new Map(types.map(({ id, prices: versions }) => [id, instancePriceAt(versions, nowMs)?.hour_nanos ?? 0]));
  return deployments
    .flatMap(({ meter }) => meter?.running ?? [])
    .reduce((sum, { instance_type, instances }) => sum + BigInt(prices.get(instance_type) ?? 0) * BigInt(instances), 0n);
};

const summaryOf = async (
  { catalogue }: SummaryDependencies,
  deployments: readonly Deployment[],
  isPartial: boolean,
  nowMs: number,
): Promise<DeploymentsSection> => {
  const hasInstances = deployments.some(({ meter }) => (meter?.running.length ?? 0) > 0);
  const types = hasInstances ? await catalogue.instanceTypes.list() : [];
  return {
    states: Object.fromEntries([...Map.groupBy(deployments, ({ state }) => state)].map(([state, all]) => [state, all.length])),
    failed: deployments
      .filter(({ state }) => state === 'failed')
      .slice(0, MAX_FAILED)
      .map(({ id }) => id),
    cost_per_hour_now: dollarsOf(costPerHour(deployments, types, nowMs)),
    is_partial: isPartial,
  };
};

/** Counts the organization's deployments by state, and sums what their instances cost now. */
export const deploymentsSection = async ({ deps, actor, organization }: OrganizationReads): Promise<DeploymentsSection> => {
  const { deployments, hasMore } = await deps.deployments.list(organization, { limit: MAX_DEPLOYMENTS });
  return summaryOf(deps, deployments, hasMore, actor.origin.nowMs);
};

/** The same for the deployments of all organizations. */
export const platformDeployments = async (deps: SummaryDependencies, nowMs: number): Promise<DeploymentsSection> => {
  const { ids, next } = await deps.liveDeployments({ limit: MAX_OF_PLATFORM });
  const found = (await Promise.all(inBatches(ids, MAX_AT_ONCE).map(deps.deployments.getMany))).flat();
  // The index is behind by a moment.
  const live = found.filter(({ state }) => state !== 'deleted');
  return summaryOf(deps, live, next !== null, nowMs);
};
