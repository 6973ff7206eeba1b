import * as z from 'zod';
import { readInput, wireTime } from '../../http/json-api.ts';
import { failComponent, removeCopy } from './component-copies.ts';
import { getEndpoint } from './endpoints.ts';
import { hardwareOf } from './hardware.ts';
import { listPage } from './listing.ts';
import { baseNameOf, type Component, type ComponentStatus, readyCopies, type Variant } from './records.ts';
import { alreadyExists, baseOfAdapters, busy, FAILURES, invalid, NOT_ENOUGH_HARDWARE, notFound } from './requests/errors.ts';
import { CreateInferenceComponent, type Specification, UpdateInferenceComponent, UpdateRuntimeConfig } from './requests/inputs.ts';
import { arnOf, keyOf, Name } from './requests/names.ts';
import { fits, needsOf } from './specifications.ts';
import { type AccountState, newResource } from './state.ts';

const ByName = z.object({ InferenceComponentName: Name });

// SageMaker's errors have these names for the statuses.
const BUSY_STATUSES: Partial<Readonly<Record<ComponentStatus, string>>> = {
  Creating: 'CREATE_IN_PROGRESS',
  Updating: 'UPDATE_IN_PROGRESS',
  Deleting: 'DELETE_IN_PROGRESS',
};

interface Wanted {
  Specification?: Specification | undefined;
  Specifications?: Specification[] | undefined;
}

// A variant with an instance type takes one specification, and one with instance pools one for each type.
const readSpecifications = (state: AccountState, variant: Variant, wanted: Wanted): Specification[] => {
  const specifications = wanted.Specifications ?? (wanted.Specification ? [wanted.Specification] : []);
  const isPooled = variant.settings.InstancePools !== undefined;
  if (isPooled !== (wanted.Specifications !== undefined))
    throw invalid(
      isPooled
        ? 'Use Specifications, with one specification for each instance type, for a production variant with InstancePools.'
        : 'Use Specification for a production variant without InstancePools.',
    );
  for (const { InstanceType, ModelName, Container, ComputeResourceRequirements } of specifications) {
    if (isPooled && !variant.pools.some((pool) => pool.InstanceType === InstanceType))
      throw invalid(`The instance type ${InstanceType} is not one of the production variant's InstancePools.`);
    if (ModelName === undefined && Container?.Image === undefined)
      throw invalid('A specification needs a ModelName or a Container with an Image.');
    if (ModelName !== undefined && !state.models.has(keyOf(ModelName))) throw notFound('model', ModelName);
    if (!ComputeResourceRequirements) throw invalid('ComputeResourceRequirements is required for an inference component.');
  }
  const missing = variant.pools.find(({ InstanceType }) => !needsOf({ specifications }, InstanceType));
  if (missing) throw invalid(`There is no specification for the instance type ${missing.InstanceType}.`);
  if (!variant.pools.some(({ InstanceType }) => fits(needsOf({ specifications }, InstanceType), hardwareOf(InstanceType))))
    throw invalid(NOT_ENOUGH_HARDWARE);
  return specifications;
};

export const createComponent = (state: AccountState, body: unknown): object => {
  const input = readInput(CreateInferenceComponent, body);
  const name = input.InferenceComponentName;
  if (state.components.has(keyOf(name))) throw alreadyExists('inference-component', name);
  const endpoint = getEndpoint(state, input.EndpointName);
  if (endpoint.status !== 'InService') throw busy('update', 'endpoint', endpoint.name, endpoint.status);
  const base = input.Specification?.BaseInferenceComponentName;
  const variant = endpoint.variants.find((other) => other.name === (input.VariantName ?? endpoint.variants[0]?.name));
  if (!variant || (input.VariantName === undefined && base === undefined))
    throw invalid(`Could not find production variant "${input.VariantName ?? ''}" of endpoint "${endpoint.arn}".`);
  const specifications =
    base === undefined ? readSpecifications(state, variant, input) : readAdapter(state, endpoint.name, input.Specification ?? {});
  if (base === undefined && !input.RuntimeConfig?.CopyCount)
    throw invalid('RuntimeConfig.CopyCount must be at least 1 when an inference component is created.');
  const component: Component = {
    ...newResource(state, 'inference-component', name, input.Tags),
    endpointName: endpoint.name,
    variantName: variant.name,
    status: 'Creating',
    failureReason: undefined,
    specifications,
    revision: 1,
    previous: undefined,
    desiredCopies: base === undefined ? (input.RuntimeConfig?.CopyCount ?? 0) : 0,
    copies: [],
    isAdapterReady: false,
    deploymentConfig: undefined,
    hasSeveralSpecifications: input.Specifications !== undefined,
  };
  state.components.set(keyOf(name), component);
  if (base !== undefined) state.timeline.after(state.settings().times.download_ms, () => loadAdapter(state, component, base));
  return { InferenceComponentArn: component.arn };
};

// SageMaker calls the container's route for adapters, which vLLM's has only with this variable.
const ADAPTERS = 'SM_VLLM_ENABLE_LORA';

const loadAdapter = (state: AccountState, component: Component, base: string): void => {
  if (state.components.get(keyOf(component.name)) !== component || component.status !== 'Creating') return;
  const [copy] = readyCopies(getComponent(state, base));
  if (copy && copy.environment[ADAPTERS] !== 'true') failComponent(state, component, FAILURES.adapterNotLoaded);
  else component.isAdapterReady = true;
};

const readAdapter = (state: AccountState, endpointName: string, specification: Specification): Specification[] => {
  const base = getComponent(state, specification.BaseInferenceComponentName ?? '');
  if (keyOf(base.endpointName) !== keyOf(endpointName) || baseNameOf(base) !== undefined)
    throw invalid(`"${base.arn}" cannot be the base inference component of an adapter on this endpoint.`);
  if (base.status !== 'InService')
    throw busy('add an adapter to', 'inference-component', base.name, BUSY_STATUSES[base.status] ?? base.status);
  if (specification.ComputeResourceRequirements)
    throw invalid('ComputeResourceRequirements must not be specified with BaseInferenceComponentName.');
  if (specification.Container?.ArtifactUrl === undefined) throw invalid('An adapter needs a Container with an ArtifactUrl.');
  return [specification];
};

// Throws AwsError ValidationException.
const getComponent = (state: AccountState, name: string): Component => {
  const component = state.components.get(keyOf(name));
  if (!component) throw notFound('inference-component', name);
  return component;
};

const requireIdle = (component: Component, verb: string): void => {
  const state = BUSY_STATUSES[component.status];
  if (state !== undefined) throw busy(verb, 'inference-component', component.name, state);
};

const beginUpdate = (state: AccountState, component: Component): void => {
  component.status = 'Updating';
  component.failureReason = undefined;
  component.modifiedAt = state.timeline.time();
};

/** Changes the number of copies. Zero is allowed here, other than at creation. */
export const setCopies = (state: AccountState, component: Component, copies: number): void => {
  requireIdle(component, 'update');
  if (baseNameOf(component) !== undefined) throw invalid('An adapter inference component has no copies of its own.');
  beginUpdate(state, component);
  component.desiredCopies = copies;
};

export const updateRuntimeConfig = (state: AccountState, body: unknown): object => {
  const input = readInput(UpdateRuntimeConfig, body);
  const component = getComponent(state, input.InferenceComponentName);
  setCopies(state, component, input.DesiredRuntimeConfig.CopyCount);
  return { InferenceComponentArn: component.arn };
};

export const updateComponent = (state: AccountState, body: unknown): object => {
  const input = readInput(UpdateInferenceComponent, body);
  const component = getComponent(state, input.InferenceComponentName);
  const hasSpecification = input.Specification !== undefined || input.Specifications !== undefined;
  if (!hasSpecification && !input.RuntimeConfig) throw invalid('An update needs a Specification or a RuntimeConfig.');
  requireIdle(component, 'update');
  if (baseNameOf(component) !== undefined) throw invalid('Update operation is not supported for adapter inference components.');
  const variant = getEndpoint(state, component.endpointName).variants.find(({ name }) => name === component.variantName);
  if (!variant) throw invalid(`Could not find production variant "${component.variantName}".`);
  if (hasSpecification) {
    const specifications = readSpecifications(state, variant, input);
    component.previous = { specifications: component.specifications, revision: component.revision };
    component.specifications = specifications;
    component.revision += 1;
  }
  component.desiredCopies = input.RuntimeConfig?.CopyCount ?? component.desiredCopies;
  component.deploymentConfig = input.DeploymentConfig ?? component.deploymentConfig;
  beginUpdate(state, component);
  return { InferenceComponentArn: component.arn };
};

export const deleteComponent = (state: AccountState, body: unknown): object => {
  const component = getComponent(state, readInput(ByName, body).InferenceComponentName);
  requireIdle(component, 'delete');
  if ([...state.components.values()].some((other) => keyOf(baseNameOf(other) ?? '') === keyOf(component.name)))
    throw baseOfAdapters(component.name);
  component.status = 'Deleting';
  component.modifiedAt = state.timeline.time();
  for (const copy of component.copies) removeCopy(state, component, copy);
  state.timeline.after(state.settings().times.delete_ms, () => {
    if (state.components.get(keyOf(component.name)) === component) state.components.delete(keyOf(component.name));
  });
  return {};
};

const describeSpecification = (state: AccountState, specification: Specification) => {
  const { Container, ModelName, ...rest } = specification;
  const image = Container?.Image ?? (ModelName === undefined ? undefined : state.models.get(keyOf(ModelName))?.image);
  return {
    ...rest,
    ModelName,
    Container: {
      ...(image !== undefined && { DeployedImage: { SpecifiedImage: image, ResolvedImage: image } }),
      ArtifactUrl: Container?.ArtifactUrl,
      Environment: Container?.Environment,
    },
  };
};

const placementOf = (component: Component) =>
  Object.entries(Object.groupBy(readyCopies(component), ({ instanceType }) => instanceType)).map(([InstanceType, copies = []]) => ({
    InstanceType,
    CurrentCopyCount: copies.length,
  }));

export const describeComponent = (state: AccountState, body: unknown): object => {
  const component = getComponent(state, readInput(ByName, body).InferenceComponentName);
  const specifications = component.specifications.map((specification) => describeSpecification(state, specification));
  return {
    InferenceComponentName: component.name,
    InferenceComponentArn: component.arn,
    EndpointName: component.endpointName,
    EndpointArn: arnOf('endpoint', component.endpointName),
    VariantName: component.variantName,
    InferenceComponentStatus: component.status,
    FailureReason: component.failureReason,
    ...(component.hasSeveralSpecifications ? { Specifications: specifications } : { Specification: specifications[0] }),
    ...(baseNameOf(component) === undefined && {
      RuntimeConfig: {
        DesiredCopyCount: component.desiredCopies,
        CurrentCopyCount: readyCopies(component).length,
        PlacementStatus: placementOf(component),
      },
    }),
    LastDeploymentConfig: component.deploymentConfig,
    CreationTime: wireTime(component.createdAt),
    LastModifiedTime: wireTime(component.modifiedAt),
  };
};

const ListComponents = z.object({
  StatusEquals: z.string().optional(),
  EndpointNameEquals: z.string().optional(),
  VariantNameEquals: z.string().optional(),
});

export const listComponents = (state: AccountState, body: unknown): object => {
  const { StatusEquals: status, EndpointNameEquals: endpoint, VariantNameEquals: variant } = readInput(ListComponents, body);
  const found = [...state.components.values()].filter(
    (component) =>
      (status === undefined || component.status === status) &&
      (endpoint === undefined || keyOf(component.endpointName) === keyOf(endpoint)) &&
      (variant === undefined || component.variantName === variant),
  );
  const { items, NextToken } = listPage(found, body, (component) => component.status);
  const InferenceComponents = items.map((component) => ({
    InferenceComponentName: component.name,
    InferenceComponentArn: component.arn,
    EndpointName: component.endpointName,
    EndpointArn: arnOf('endpoint', component.endpointName),
    VariantName: component.variantName,
    InferenceComponentStatus: component.status,
    CreationTime: wireTime(component.createdAt),
    LastModifiedTime: wireTime(component.modifiedAt),
  }));
  return { InferenceComponents, NextToken };
};
