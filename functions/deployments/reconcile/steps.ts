import { type Deployment, leastCopies } from '../../../shared/deployments/deployment.ts';
import type { DescribedComponent, ListedComponent } from '../aws/sagemaker.ts';
import { componentOf, isOfAdapter, loadableAdapters } from './adapter-components.ts';
import type { SageMakerCall } from './calls.ts';
import type { ObservedGeneration } from './observe.ts';

// Copies are added before all of them are full.
const TARGET_PERCENT = 80;

// Divided last, the result has few decimals and equals the number that AWS returns: 7 × 0.8 is 5.6000000000000005.
const targetOf = ({ max_concurrency_per_copy }: Deployment): number => Math.max(1, (max_concurrency_per_copy * TARGET_PERCENT) / 100);

// Components can be scaled in these states, but created only in InService: a rejected creation counts as a failure.
const OPEN = new Set(['InService', 'Updating', 'SystemUpdating']);

// A failed update leaves the copies that there were: they serve, are charged, and can be scaled.
const hasFailedWithCopies = ({ status, copies }: DescribedComponent): boolean => status === 'Failed' && copies > 0;

/**
 * The next calls towards a generation with copies, or without ones if the deployment is asleep. They follow from the
 * existing parts; each call needs the result of the one before it. A model and a configuration are also created again
 * beneath an endpoint: a late pass of an earlier stop may delete them, and SageMaker needs them for each copy that it
 * adds.
 */
export const stepsUp = (deployment: Deployment, generation: number, existing: ObservedGeneration, isAsleep: boolean): SageMakerCall[] => {
  const { endpoint, component } = existing;
  const model: SageMakerCall[] = existing.hasModel ? [] : [{ generation, kind: 'create_model' }];
  const config: SageMakerCall[] = existing.hasConfig ? [] : [{ generation, kind: 'create_config' }];
  const needed = [...model, ...config];
  if (!endpoint) return [...needed, { generation, kind: 'create_endpoint' }];
  if (!OPEN.has(endpoint.status)) return [];
  if (!component) return endpoint.status === 'InService' ? [...needed, { generation, kind: 'create_component' }] : needed;
  const isUpdating = component.status === 'Updating';
  if (component.status !== 'InService' && !hasFailedWithCopies(component) && !(isAsleep && isUpdating)) return needed;
  const scale = (isAsleep ? stepsToSleep : stepsToScale)(deployment, generation, existing);
  // SageMaker can reject the removal of copies until the update is over. Scaling would only go on with it.
  return [...needed, ...scale, ...(isUpdating ? [] : adapterSteps(deployment, generation, existing))];
};

// SageMaker rejects the deletion of a component that is being deleted.
const deletionsOf = (generation: number, adapters: readonly ListedComponent[]): SageMakerCall[] =>
  adapters
    .filter(({ status }) => status !== 'Deleting')
    .map(({ name: component }) => ({ generation, kind: 'delete_adapter' as const, component }));

// An adapter is loaded into running containers; they load it again whenever they start. A component that failed is
// removed, and created again unless the adapter has failed with it.
const adapterSteps = (deployment: Deployment, generation: number, existing: ObservedGeneration): SageMakerCall[] => {
  const { endpoint, component, adapters } = existing;
  const wanted = loadableAdapters(deployment, generation);
  const unwanted = adapters.filter((each) => each.status === 'Failed' || !wanted.some(({ id }) => isOfAdapter(each, id)));
  const canLoad = endpoint?.status === 'InService' && (component?.copies ?? 0) > 0;
  const missing = canLoad ? wanted.filter(({ id }) => !componentOf(existing, id)) : [];
  return [
    ...deletionsOf(generation, unwanted),
    ...missing.map(({ id: adapter }) => ({ generation, kind: 'create_adapter' as const, adapter })),
  ];
};

// Scaling is suspended first, because one of its alarms could bring a copy back.
const stepsToSleep = ({ copies }: Deployment, generation: number, { component, scaling }: ObservedGeneration): SageMakerCall[] => {
  const isSuspended = !scaling || (scaling.isSuspended && scaling.min === 0);
  const suspend: SageMakerCall = { generation, kind: 'register_scaling', target: { min: 0, max: copies.max, isSuspended: true } };
  const hasCopies = component !== undefined && component.wantedCopies > 0;
  return [...(isSuspended ? [] : [suspend]), ...(hasCopies ? [{ generation, kind: 'set_copies' as const, copies: 0 }] : [])];
};

// Sluice sets the first copies; after that, Application Auto Scaling takes over.
const stepsToScale = (deployment: Deployment, generation: number, { component, scaling }: ObservedGeneration): SageMakerCall[] => {
  const [min, max] = [leastCopies(deployment), deployment.copies.max];
  const { wantedCopies = 0, copies = 0 } = component ?? {};
  const bounded = Math.min(max, Math.max(min, wantedCopies));
  // AWS has given up adding the others.
  const isShort = component !== undefined && hasFailedWithCopies(component) && copies < wantedCopies;
  const resize: SageMakerCall[] = bounded === wantedCopies && !isShort ? [] : [{ generation, kind: 'set_copies', copies: bounded }];
  if (copies === 0) return resize;
  const isRegistered = scaling && !scaling.isSuspended && scaling.min === min && scaling.max === max;
  const register: SageMakerCall[] = isRegistered
    ? []
    : [{ generation, kind: 'register_scaling', target: { min, max, isSuspended: false } }];
  const requestsPerCopy = targetOf(deployment);
  const policy: SageMakerCall[] = scaling?.requestsPerCopy === requestsPerCopy ? [] : [{ generation, kind: 'put_policy', requestsPerCopy }];
  return [...resize, ...register, ...policy];
};

// SageMaker rejects the deletion of an endpoint in these states.
const CLOSED = new Set(['Creating', 'Updating', 'SystemUpdating', 'RollingBack', 'Deleting']);

/**
 * The next calls towards nothing: scaling, adapters, component, endpoint, configuration, model. Each waits until the
 * one before it is gone.
 */
export const stepsDown = (generation: number, existing: ObservedGeneration): SageMakerCall[] => {
  const { endpoint, component, adapters, scaling } = existing;
  const calls: SageMakerCall[] = scaling ? [{ generation, kind: 'deregister_scaling' }] : [];
  if (adapters.length > 0) return [...calls, ...deletionsOf(generation, adapters)];
  if (component) return component.status === 'Deleting' ? calls : [...calls, { generation, kind: 'delete_component' }];
  if (endpoint) return CLOSED.has(endpoint.status) ? calls : [...calls, { generation, kind: 'delete_endpoint' }];
  if (existing.hasConfig) calls.push({ generation, kind: 'delete_config' });
  if (existing.hasModel) calls.push({ generation, kind: 'delete_model' });
  return calls;
};
