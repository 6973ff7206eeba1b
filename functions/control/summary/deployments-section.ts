import type { InstanceType } from '../../../shared/deployments/catalogue.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { instancePriceAt } from '../../../shared/prices/instance-price.ts';
import { MAX_DEPLOYMENTS } from '../deployments/errors.ts';
import type { OrganizationReads } from './summary-reads.ts';
import type { DeploymentsSection } from './summary-resource.ts';

const MAX_FAILED = 5;

const costPerHour = (deployments: readonly Deployment[], types: readonly InstanceType[], nowMs: number): bigint => {
  const prices = new Map(types.map(({ id, prices: versions }) => [id, instancePriceAt(versions, nowMs)?.hour_nanos ?? 0]));
  return deployments
    .flatMap(({ meter }) => meter?.running ?? [])
    .reduce((sum, { instance_type, instances }) => sum + BigInt(prices.get(instance_type) ?? 0) * BigInt(instances), 0n);
};

const deploymentsOf = (deployments: readonly Deployment[], types: readonly InstanceType[], nowMs: number): DeploymentsSection => ({
  states: Object.fromEntries([...Map.groupBy(deployments, ({ state }) => state)].map(([state, all]) => [state, all.length])),
  failed: deployments
    .filter(({ state }) => state === 'failed')
    .slice(0, MAX_FAILED)
    .map(({ id }) => id),
  cost_per_hour_now: dollarsOf(costPerHour(deployments, types, nowMs)),
});

/** Reads the organization's deployments. */
export const deploymentsSection = async ({ deps, actor, organization }: OrganizationReads): Promise<DeploymentsSection> => {
  const { deployments } = await deps.deployments.list(organization, { limit: MAX_DEPLOYMENTS });
  const hasInstances = deployments.some(({ meter }) => (meter?.running.length ?? 0) > 0);
  return deploymentsOf(deployments, hasInstances ? await deps.catalogue.instanceTypes.list() : [], actor.origin.nowMs);
};
