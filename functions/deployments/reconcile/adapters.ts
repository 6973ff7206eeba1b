import { type Adapter, isServed } from '../../../shared/deployments/adapter.ts';
import { type Deployment, isActive } from '../../../shared/deployments/deployment.ts';
import { archiveKeyOf } from '../../../shared/deployments/names.ts';
import type { DeploymentReason } from '../../../shared/deployments/reason.ts';
import { SERVING } from '../../../shared/deployments/state.ts';
import { HOUR_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { reasonFor } from '../reasons.ts';
import { componentOf, hasLoaded, hasRejected } from './adapter-components.ts';
import type { SageMakerCall } from './calls.ts';
import { LATE_CALL_MS, trafficOf } from './generations.ts';
import { NOTHING, type Observed } from './observe.ts';

// For this long, an adapter is tried again after an error of S3 or a change of its files.
const MAX_PACK_MS = HOUR_MS;

/** The generations that get requests for an adapter: those that have loaded it. */
export const adapterTraffic = (deployment: Deployment, observed: Observed, id: string): ReturnType<typeof trafficOf> =>
  trafficOf(deployment).filter(({ generation }) => hasLoaded(observed.generations.get(generation.number) ?? NOTHING, id));

const failed = ({ packed: _, ...adapter }: Adapter, reason: DeploymentReason): Adapter => ({ ...adapter, state: 'failed', reason });

/** The deployment after an adapter failed. Its component and its archive are removed. */
export const withFailedAdapter = (deployment: Deployment, id: string, reason: DeploymentReason): Deployment => ({
  ...deployment,
  adapters: (deployment.adapters ?? []).map((adapter) => (adapter.id === id && isServed(adapter) ? failed(adapter, reason) : adapter)),
});

const isRejected = (deployment: Deployment, observed: Observed, id: string): boolean =>
  deployment.generations.filter(isActive).some(({ number }) => hasRejected(observed.generations.get(number) ?? NOTHING, id));

const isGone = (deployment: Deployment, observed: Observed, id: string): boolean =>
  !observed.archives.includes(archiveKeyOf(deployment.organization, deployment.id, id)) &&
  [...observed.generations.values()].every((existing) => !componentOf(existing, id));

// Undefined once it is proven that nothing of it is left: a late call could have created something.
const deleting = (adapter: Adapter, isEmpty: boolean, nowMs: number): Adapter | undefined => {
  const { empty_since, ...rest } = adapter;
  if (!isEmpty) return rest;
  if (empty_since === undefined) return { ...rest, empty_since: nowMs };
  return nowMs - empty_since > LATE_CALL_MS ? undefined : adapter;
};

const nextAdapter = (deployment: Deployment, { observed, namesInUse, nowMs }: AdapterInput, adapter: Adapter): Adapter | undefined => {
  const { id, state, packed, created_at } = adapter;
  if (state === 'deleting') return deleting(adapter, isGone(deployment, observed, id), nowMs);
  if (state === 'failed') return adapter;
  if (!packed) return nowMs - created_at > MAX_PACK_MS ? failed(adapter, reasonFor('adapter_not_packed')) : adapter;
  if (namesInUse.includes(adapter.name)) return failed(adapter, reasonFor('name_in_use'));
  if (isRejected(deployment, observed, id)) return failed(adapter, reasonFor('adapter_not_loaded'));
  return { ...adapter, state: adapterTraffic(deployment, observed, id).length > 0 ? 'ready' : 'creating' };
};

interface AdapterInput {
  observed: Observed;
  /** Names of adapters that other models have, too. */
  namesInUse: readonly string[];
  nowMs: number;
}

/** The deployment with its adapters updated from what exists on AWS. Those of which nothing is left are gone. */
export const withAdapters = (deployment: Deployment, input: AdapterInput): Deployment => {
  if (!deployment.adapters) return deployment;
  const { adapters, ...rest } = deployment;
  const next = adapters.map((adapter) => nextAdapter(deployment, input, adapter)).filter((adapter) => adapter !== undefined);
  return next.length > 0 ? { ...rest, adapters: next } : rest;
};

/** The calls that delete the archives which no adapter needs, once no component is left that loads them. */
export const archiveDeletions = (deployment: Deployment, observed: Observed): SageMakerCall[] => {
  const { organization, id: deploymentId, wanted, adapters = [] } = deployment;
  const keyOf = ({ id }: Adapter): string => archiveKeyOf(organization, deploymentId, id);
  const needed = new Set(wanted === 'deleted' ? [] : adapters.filter(isServed).map(keyOf));
  // Another pass may have stored it already.
  const pending = new Set(wanted === 'deleted' ? [] : adapters.filter(({ state }) => state === 'pending').map(keyOf));
  const loaded = new Set(adapters.filter(({ id }) => [...observed.generations.values()].some((each) => componentOf(each, id))).map(keyOf));
  return observed.archives
    .filter((key) => !needed.has(key) && !pending.has(key) && !loaded.has(key))
    .map((key) => ({ generation: 0, kind: 'delete_archive' as const, key }));
};

// Passes are 15 s or a minute apart, so that each pass takes the turn of another adapter.
const PACK_TURN_MS = 13 * SECOND_MS;

/** An adapter whose files are to be checked, and the rank that its deployment's containers can load. */
export interface AdapterToPack {
  adapter: Adapter;
  maxRank: number;
}

/**
 * The adapter whose files are to be checked next. They take turns, so that one whose files can't be read now doesn't
 * keep the others waiting.
 */
export const adapterToPack = ({ wanted, adapters = [], generations }: Deployment, nowMs: number): AdapterToPack | undefined => {
  const pending = wanted === 'deleted' ? [] : adapters.filter(({ state, packed }) => state === 'pending' && !packed);
  const adapter = pending[Math.floor(nowMs / PACK_TURN_MS) % pending.length];
  return adapter && { adapter, maxRank: generations.findLast(isActive)?.adapters?.max_rank ?? generations.at(-1)?.adapters?.max_rank ?? 0 };
};

/** True if an adapter changes by itself, so that passes must go on. */
export const hasAdapterWork = ({ adapters = [] }: Deployment): boolean =>
  adapters.some(({ state }) => state === 'pending' || state === 'deleting');

/** True if another pass is soon to see a change of an adapter. */
export const isChangingAdapters = (deployment: Deployment): boolean =>
  hasAdapterWork(deployment) ||
  (SERVING.includes(deployment.state) && (deployment.adapters ?? []).some((adapter) => isServed(adapter) && adapter.state === 'creating'));
