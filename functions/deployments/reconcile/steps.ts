import type { Deployment } from '../../../shared/deployments/deployment.ts';
import type { Call } from './calls.ts';
import type { ObservedGeneration } from './observe.ts';

/** Copies are added before all of them are full. */
const TARGET_PERCENT = 80;

/**
 * The concurrent requests per copy at which copies are added. Divided last: the result is the number that its decimal
 * digits say, and the one that AWS returns. 7 × 0.8 is 5.6000000000000005.
 */
const targetOf = ({ max_concurrency_per_copy }: Deployment): number => Math.max(1, (max_concurrency_per_copy * TARGET_PERCENT) / 100);

/**
 * The states in which an endpoint's component can be scaled. It can be created only on one that is not changing: a
 * rejected creation is a failure.
 */
const OPEN = new Set(['InService', 'Updating', 'SystemUpdating']);

/**
 * The next calls towards a generation with copies, or without ones if the deployment is asleep. They follow from what
 * exists; each one needs what the one before it creates. A model and a configuration are created again also beneath
 * an endpoint: a late pass of an earlier stop may delete them, and SageMaker needs them for each copy that it adds.
 */
export const stepsUp = (deployment: Deployment, generation: number, seen: ObservedGeneration, isAsleep: boolean): Call[] => {
  const { endpoint, component } = seen;
  const model: Call[] = seen.hasModel ? [] : [{ generation, kind: 'create_model' }];
  const config: Call[] = seen.hasConfig ? [] : [{ generation, kind: 'create_config' }];
  const needed = [...model, ...config];
  if (!endpoint) {
    // A component outlives its endpoint, and can't be moved to another one.
    if (component) return component.status === 'Deleting' ? [] : [{ generation, kind: 'delete_component' }];
    return [...needed, { generation, kind: 'create_endpoint' }];
  }
  if (!OPEN.has(endpoint.status)) return [];
  if (!component) return endpoint.status === 'InService' ? [...needed, { generation, kind: 'create_component' }] : needed;
  if (component.status !== 'InService') return needed;
  return [...needed, ...(isAsleep ? stepsToSleep : stepsToScale)(deployment, generation, seen)];
};

/** Without copies. Scaling is suspended first: otherwise one of its alarms brings a copy back. */
const stepsToSleep = ({ copies }: Deployment, generation: number, { component, scaling }: ObservedGeneration): Call[] => {
  const isSuspended = !scaling || (scaling.isSuspended && scaling.min === 0);
  const suspend: Call = { generation, kind: 'register_scaling', target: { min: 0, max: copies.max, isSuspended: true } };
  const hasCopies = component !== undefined && component.wantedCopies > 0;
  return [...(isSuspended ? [] : [suspend]), ...(hasCopies ? [{ generation, kind: 'set_copies' as const, copies: 0 }] : [])];
};

/** The first copies are ours; once there is one, Application Auto Scaling has the rest. */
const stepsToScale = (deployment: Deployment, generation: number, { component, scaling }: ObservedGeneration): Call[] => {
  const { min, max } = deployment.copies;
  const { wantedCopies = 0, copies = 0 } = component ?? {};
  const bounded = Math.min(max, Math.max(min, wantedCopies));
  const resize: Call[] = bounded === wantedCopies ? [] : [{ generation, kind: 'set_copies', copies: bounded }];
  if (copies === 0) return resize;
  const isRegistered = scaling && !scaling.isSuspended && scaling.min === min && scaling.max === max;
  const register: Call[] = isRegistered ? [] : [{ generation, kind: 'register_scaling', target: { min, max, isSuspended: false } }];
  const requestsPerCopy = targetOf(deployment);
  const policy: Call[] = scaling?.requestsPerCopy === requestsPerCopy ? [] : [{ generation, kind: 'put_policy', requestsPerCopy }];
  return [...resize, ...register, ...policy];
};

/** The states in which SageMaker rejects the deletion of an endpoint. */
const CLOSED = new Set(['Creating', 'Updating', 'SystemUpdating', 'RollingBack', 'Deleting']);

/**
 * The next calls towards nothing: scaling, adapters, component, endpoint, configuration, model. Each waits until the
 * one before it is gone.
 */
export const stepsDown = (generation: number, seen: ObservedGeneration): Call[] => {
  const { endpoint, component, adapters, scaling } = seen;
  const calls: Call[] = scaling ? [{ generation, kind: 'deregister_scaling' }] : [];
  if (adapters.length > 0) return [...calls, ...adapters.map((adapter) => ({ generation, kind: 'delete_adapter' as const, adapter }))];
  if (component) return component.status === 'Deleting' ? calls : [...calls, { generation, kind: 'delete_component' }];
  if (endpoint) return CLOSED.has(endpoint.status) ? calls : [...calls, { generation, kind: 'delete_endpoint' }];
  if (seen.hasConfig) calls.push({ generation, kind: 'delete_config' });
  if (seen.hasModel) calls.push({ generation, kind: 'delete_model' });
  return calls;
};
