import { type Adapter, MAX_ADAPTERS } from '../../../shared/deployments/adapter.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { Actor } from '../access/actor.ts';
import { changeDeployment } from '../deployments/change-deployment.ts';
import type { CreateDependencies } from '../deployments/create-deployment.ts';
import { WrongState } from '../deployments/errors.ts';
import { visibleDeployment } from '../deployments/find-deployment.ts';
import { ownFolder } from '../deployments/model-location.ts';
import { wantedGeneration } from '../deployments/rollout.ts';
import { type AdapterResource, type AdapterView, type NewAdapter, toAdapterResource } from './adapter-resource.ts';

class TooManyAdapters extends Conflict {
  constructor() {
    super({
      code: 'too_many_adapters',
      message: `A deployment can have at most ${MAX_ADAPTERS} adapters. Delete one first; it counts until it has been removed completely.`,
    });
  }
}

const adapterOf = ({ adapters = [] }: Deployment, id: string): Adapter => {
  const adapter = adapters.find((each) => each.id === id);
  if (!adapter) throw new ResourceNotFound('adapter', id);
  return adapter;
};

const checkRoom = (deployment: Deployment): void => {
  if (!wantedGeneration(deployment).adapters)
    throw new WrongState(
      'adapters_not_enabled',
      "This deployment does not support adapters yet. Set 'adapters' (max_rank and max_loaded) with PATCH /v1/deployments/{id} first.",
    );
  if ((deployment.adapters ?? []).length >= MAX_ADAPTERS) throw new TooManyAdapters();
};

const viewOf = async ({ catalogue }: CreateDependencies, { role, origin: { nowMs } }: Actor): Promise<AdapterView> => ({
  role,
  nowMs,
  surcharges: (await catalogue.adapterPrices()).prices,
});

/**
 * Adds an adapter to a deployment. The function `deployments` checks its files, copies them and loads the copy.
 * Repeating the request returns the same adapter.
 * @throws 400 also for another organization's folder, 403, 404, 409, 503
 */
export const addAdapter = async (
  deps: CreateDependencies,
  actor: Actor,
  deploymentId: string,
  { name, source }: NewAdapter,
): Promise<AdapterResource> => {
  const { nowMs } = actor.origin;
  const { organization } = await visibleDeployment(deps, actor, deploymentId);
  const folder = ownFolder(deps.modelSources.weightsBucket, organization, { source });
  let adapter: Adapter = {
    id: newTimedId('adapter', nowMs),
    name,
    source: folder,
    created_at: nowMs,
    created_by: actor.userId,
    state: 'pending',
  };
  const added = adapter;
  const view = await viewOf(deps, actor);
  await changeDeployment(
    deps,
    actor,
    { id: deploymentId },
    {
      action: 'deployment.adapter_added',
      fitsAnySettings: true,
      apply: (before) => {
        const { adapters = [] } = before;
        const earlier = adapters.find((each) => each.name === name && each.source === folder && each.state !== 'deleting');
        if (earlier) {
          adapter = earlier;
          return before;
        }
        checkRoom(before);
        adapter = added;
        return { ...before, adapters: [...adapters, added] };
      },
      writes: (before) => [deps.deployments.toTakeName(before, added), deps.models.toCheckAbsent(organization, name)],
    },
  );
  return toAdapterResource({ id: deploymentId }, adapter, view);
};

/** All adapters of a deployment, oldest first. @throws 404 */
export const listAdapters = async (deps: CreateDependencies, actor: Actor, deploymentId: string) => {
  const deployment = await visibleDeployment(deps, actor, deploymentId);
  const view = await viewOf(deps, actor);
  const data = (deployment.adapters ?? []).map((adapter) => toAdapterResource(deployment, adapter, view));
  return { object: 'list' as const, data };
};

/** An adapter of a deployment. @throws 404 */
export const retrieveAdapter = async (
  deps: CreateDependencies,
  actor: Actor,
  { id, adapter }: { id: string; adapter: string },
): Promise<AdapterResource> => {
  const deployment = await visibleDeployment(deps, actor, id);
  return toAdapterResource(deployment, adapterOf(deployment, adapter), await viewOf(deps, actor));
};

/**
 * Deletes an adapter: it gets no requests, and is removed from AWS.
 * @throws 403, 404, 409 for a deleted deployment, 503
 */
export const deleteAdapter = async (
  deps: CreateDependencies,
  actor: Actor,
  { id, adapter: adapterId }: { id: string; adapter: string },
): Promise<AdapterResource> => {
  let deleted: Adapter | undefined;
  const view = await viewOf(deps, actor);
  await changeDeployment(
    deps,
    actor,
    { id },
    {
      action: 'deployment.adapter_deleted',
      isOpenToSuspended: true,
      fitsAnySettings: true,
      apply: (before) => {
        const adapter = adapterOf(before, adapterId);
        const { packed: _, reason: __, ...rest } = adapter;
        deleted = adapter.state === 'deleting' ? adapter : { ...rest, state: 'deleting' };
        if (adapter.state === 'deleting') return before;
        return { ...before, adapters: (before.adapters ?? []).map((each) => (each.id === adapterId ? (deleted as Adapter) : each)) };
      },
    },
  );
  return toAdapterResource({ id }, deleted as Adapter, view);
};
