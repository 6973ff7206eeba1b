import { type Adapter, isServed } from '../../../shared/deployments/adapter.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { adapterNameOf } from '../../../shared/deployments/names.ts';
import type { ListedComponent } from '../aws/sagemaker.ts';
import type { ObservedGeneration } from './observe.ts';

/** The adapters that a generation is to load. */
export const loadableAdapters = ({ adapters = [], generations }: Deployment, generation: number): Adapter[] => {
  const support = generations.find(({ number }) => number === generation)?.adapters;
  return support ? adapters.filter((adapter) => isServed(adapter) && (adapter.packed?.rank ?? 0) <= support.max_rank) : [];
};

/** True if a component on the endpoint of a generation is that of an adapter. SageMaker ignores the case of names. */
export const isOfAdapter = ({ name }: ListedComponent, id: string): boolean =>
  name.toLowerCase().endsWith(adapterNameOf('', id).toLowerCase());

/** An adapter's component on the endpoint of a generation. */
export const componentOf = ({ adapters }: ObservedGeneration, id: string): ListedComponent | undefined =>
  adapters.find((component) => isOfAdapter(component, id));

/** True if a generation has loaded an adapter. */
export const hasLoaded = (existing: ObservedGeneration, id: string): boolean => componentOf(existing, id)?.status === 'InService';

/**
 * True if SageMaker couldn't load an adapter into containers of a generation that run. Otherwise the cause of a failure
 * is what happened to them.
 */
export const hasRejected = (existing: ObservedGeneration, id: string): boolean => {
  const { endpoint, component } = existing;
  const isRunning = endpoint?.status === 'InService' && component?.status === 'InService' && component.copies > 0;
  return isRunning && componentOf(existing, id)?.status === 'Failed';
};
