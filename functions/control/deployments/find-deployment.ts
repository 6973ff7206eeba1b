import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Page, PageRequest } from '../../../shared/http/page.ts';
import { instancePriceAt } from '../../../shared/prices/instance-price.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import { type DeploymentResource, toResource, type View } from './deployment-resource.ts';
import { wantedGeneration } from './rollout.ts';

export interface DeploymentReads {
  deployments: DeploymentStore;
  catalogue: CatalogueStore;
  /** Durations of the last wakes on an instance type, in seconds, of any deployment. */
  startTimes: { secondsOf: (instanceType: string) => Promise<readonly number[]> };
}

/** Returns a deployment that the actor can see: of their own organization, or any for admins. @throws 404 */
export const visibleDeployment = async ({ deployments }: DeploymentReads, actor: Actor, id: string): Promise<Deployment> => {
  if (!isOfPlatform(actor)) return deployments.get(actor.organization ?? '', id);
  const deployment = await deployments.find(id);
  if (!deployment) throw new ResourceNotFound('deployment', id);
  return deployment;
};

const hourPrices = async (
  { catalogue }: DeploymentReads,
  deployments: readonly Deployment[],
  nowMs: number,
): Promise<Map<string, number>> => {
  const types = new Set(deployments.flatMap(({ meter }) => (meter?.running ?? []).map(({ instance_type }) => instance_type)));
  const prices = [...types].map(
    async (type): Promise<[string, number]> => [type, instancePriceAt(await catalogue.prices(type), nowMs)?.hour_nanos ?? 0],
  );
  return new Map(await Promise.all(prices));
};

// A deployment without wakes of its own is predicted from others.
const startTimesFor = async ({ startTimes }: DeploymentReads, deployment: Deployment): Promise<readonly number[]> => {
  const [preferred] = wantedGeneration(deployment).instance_types;
  return deployment.state === 'waking' && deployment.starts.length === 0 && preferred !== undefined ? startTimes.secondsOf(preferred) : [];
};

/** Converts deployments to the wire, as the actor sees them. */
export const toResources = async (
  deps: DeploymentReads,
  { role, origin: { nowMs } }: Actor,
  deployments: readonly Deployment[],
): Promise<DeploymentResource[]> => {
  const hourNanos = await hourPrices(deps, deployments, nowMs);
  const views = deployments.map(
    async (deployment): Promise<View> => ({ role, nowMs, hourNanos, ofType: await startTimesFor(deps, deployment) }),
  );
  return (await Promise.all(views)).map((view, i) => toResource(deployments[i] as Deployment, view));
};

/** Returns a deployment. @throws 404 */
export const retrieveDeployment = async (deps: DeploymentReads, actor: Actor, id: string): Promise<DeploymentResource> =>
  (await toResources(deps, actor, [await visibleDeployment(deps, actor, id)]))[0] as DeploymentResource;

/** Lists an organization's deployments that are not deleted, by name. @throws 400, 404 */
export const listDeployments = async (
  deps: DeploymentReads,
  actor: Actor,
  { organization, ...request }: PageRequest & { organization?: string | undefined },
): Promise<Page<DeploymentResource>> => {
  const { deployments, hasMore } = await deps.deployments.list(organizationFor(actor, organization), request);
  return {
    object: 'list',
    data: await toResources(deps, actor, deployments),
    has_more: hasMore,
    next: hasMore ? (deployments.at(-1)?.name ?? null) : null,
  };
};
