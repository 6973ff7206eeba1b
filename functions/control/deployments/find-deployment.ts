import * as z from 'zod';
import type { CatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import { DeploymentState } from '../../../shared/deployments/state.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { type Page, type PageRequest, pageQuery, pageQueryOf, WrongCursor } from '../../../shared/http/page.ts';
import { instancePriceAt } from '../../../shared/prices/instance-price.ts';
import { type Actor, isOfPlatform, organizationFor } from '../access/actor.ts';
import { filteredPage } from '../lists/filtered-page.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { type DeploymentResource, toResource, type View } from './deployment-resource.ts';
import { wantedGeneration } from './rollout.ts';

export interface DeploymentReads {
  deployments: DeploymentStore;
  catalogue: CatalogueStore;
  /** Durations of the last wakes on an instance type, in seconds, of any deployment. */
  startTimes: { secondsOf: (instanceType: string) => Promise<readonly number[]> };
}

export interface ListDependencies extends DeploymentReads {
  /** A page of the ids of the deployments of all organizations that are not deleted, in no particular order. */
  liveDeployments: (request: PageRequest) => Promise<{ ids: string[]; next: string | null }>;
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

export const DeploymentsQuery = z.strictObject({
  ...pageQuery,
  organization: OrganizationId.optional().meta({
    description: 'The organization whose deployments to list. Defaults to your own; for admins, to all.',
  }),
  state: DeploymentState.exclude(['deleted']).optional().meta({ description: 'Only deployments in this state.' }),
});
export type DeploymentsQuery = z.output<typeof DeploymentsQuery>;

type Read = (request: PageRequest) => Promise<{ wanted: Deployment[]; next: string | null }>;

const ofAll =
  ({ deployments, liveDeployments }: ListDependencies): Read =>
  async (request) => {
    const { ids, next } = await liveDeployments(request);
    const found = await deployments.getMany(ids);
    return { wanted: found.filter(({ state }) => state !== 'deleted'), next };
  };

// No name has the mark at the end, so that no id is taken for the cursor of an organization's list, which is by name.
const nameCursorOf = ({ name }: Pick<Deployment, 'name'>): string => `${name}!`;
const NAME_CURSOR = /^[^!]+!$/;

const ofOrganization =
  ({ deployments }: ListDependencies, organization: string): Read =>
  async ({ limit, after }) => {
    const { deployments: wanted, hasMore } = await deployments.list(organization, { limit, after: after?.slice(0, -1) });
    const last = wanted.at(-1);
    return { wanted, next: hasMore && last ? nameCursorOf(last) : null };
  };

const inState =
  (read: Read, wantedState: DeploymentState | undefined): Read =>
  async (request) => {
    const { wanted, next } = await read(request);
    return { wanted: wanted.filter(({ state }) => state === (wantedState ?? state)), next };
  };

const { after: IdCursor } = pageQueryOf('deployment');

const checkCursor = (after: string | undefined, isOfAll: boolean): void => {
  const isKnown = after === undefined || (isOfAll ? IdCursor.safeParse(after).success : NAME_CURSOR.test(after));
  if (!isKnown) throw new WrongCursor();
};

/**
 * Lists the deployments that are not deleted: an organization's by name or, for the platform without an organization,
 * those of all in no particular order. A page with a state can be short or empty although there are more.
 * @throws 400, 404
 */
export const listDeployments = async (
  deps: ListDependencies,
  actor: Actor,
  { organization, state, ...request }: DeploymentsQuery,
): Promise<Page<DeploymentResource>> => {
  const isOfAll = isOfPlatform(actor) && organization === undefined;
  checkCursor(request.after, isOfAll);
  const read = isOfAll ? ofAll(deps) : ofOrganization(deps, organizationFor(actor, organization));
  const cursorOf = isOfAll ? ({ id }: Deployment): string => id : nameCursorOf;
  const search = { read: inState(read, state), cursorOf, isFiltered: state !== undefined };
  const { entries, next } = await filteredPage(request, search);
  return { object: 'list', data: await toResources(deps, actor, entries), has_more: next !== null, next };
};
