import * as z from 'zod';
import { readInput, wireTime } from '../../http/json-api.ts';
import { removeCopy } from './copies.ts';
import { getEndpoint } from './endpoints.ts';
import { hardwareOf } from './hardware.ts';
import { listPage } from './listing.ts';
import { baseNameOf, type Component, type ComponentStatus, readyCopies, type Variant } from './records.ts';
import { alreadyExists, baseOfAdapters, busy, invalid, NOT_ENOUGH_HARDWARE, notFound } from './requests/errors.ts';
import { CreateInferenceComponent, type Specification, UpdateInferenceComponent, UpdateRuntimeConfig } from './requests/inputs.ts';
import { arnOf, keyOf, Name } from './requests/names.ts';
import { fits, needsOf } from './specifications.ts';
import { newResource, type World } from './world.ts';

const ByName = z.object({ InferenceComponentName: Name });

/** The names that SageMaker's errors have for the statuses. */
const BUSY: Partial<Readonly<Record<ComponentStatus, string>>> = {
  Creating: 'CREATE_IN_PROGRESS',
  Updating: 'UPDATE_IN_PROGRESS',
  Deleting: 'DELETE_IN_PROGRESS',
};

interface Wanted {
  Specification?: Specification | undefined;
  Specifications?: Specification[] | undefined;
}

/** Checks the specifications against the variant: one with an instance type, one for each type of instance pools. */
const readSpecifications = (world: World, variant: Variant, wanted: Wanted): Specification[] => {
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
    if (ModelName !== undefined && !world.models.has(keyOf(ModelName))) throw notFound('model', ModelName);
    if (!ComputeResourceRequirements) throw invalid('ComputeResourceRequirements is required for an inference component.');
  }
  const missing = variant.pools.find(({ InstanceType }) => !needsOf({ specifications }, InstanceType));
  if (missing) throw invalid(`There is no specification for the instance type ${missing.InstanceType}.`);
  if (!variant.pools.some(({ InstanceType }) => fits(needsOf({ specifications }, InstanceType), hardwareOf(InstanceType))))
    throw invalid(NOT_ENOUGH_HARDWARE);
  return specifications;
};

export const createComponent = (world: World, body: unknown): object => {
  const input = readInput(CreateInferenceComponent, body);
  const name = input.InferenceComponentName;
  if (world.components.has(keyOf(name))) throw alreadyExists('inference-component', name);
  const endpoint = getEndpoint(world, input.EndpointName);
  if (endpoint.status !== 'InService') throw busy('update', 'endpoint', endpoint.name, endpoint.status);
  const base = input.Specification?.BaseInferenceComponentName;
  const variant = endpoint.variants.find((other) => other.name === (input.VariantName ?? endpoint.variants[0]?.name));
  if (!variant || (input.VariantName === undefined && base === undefined))
    throw invalid(`Could not find production variant "${input.VariantName ?? ''}" of endpoint "${endpoint.arn}".`);
  const specifications =
    base === undefined ? readSpecifications(world, variant, input) : readAdapter(world, endpoint.name, input.Specification ?? {});
  if (base === undefined && !input.RuntimeConfig?.CopyCount)
    throw invalid('RuntimeConfig.CopyCount must be at least 1 when an inference component is created.');
  const component: Component = {
    ...newResource(world, 'inference-component', name, input.Tags),
    endpointName: endpoint.name,
    endpointSequence: endpoint.sequence,
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
  world.components.set(keyOf(name), component);
  if (base !== undefined)
    world.timeline.after(world.settings().times.download_ms, () => {
      component.isAdapterReady = true;
    });
  return { InferenceComponentArn: component.arn };
};

const readAdapter = (world: World, endpointName: string, specification: Specification): Specification[] => {
  const base = getComponent(world, specification.BaseInferenceComponentName ?? '');
  if (keyOf(base.endpointName) !== keyOf(endpointName) || baseNameOf(base) !== undefined)
    throw invalid(`"${base.arn}" cannot be the base inference component of an adapter on this endpoint.`);
  if (base.status !== 'InService') throw busy('add an adapter to', 'inference-component', base.name, BUSY[base.status] ?? base.status);
  if (specification.ComputeResourceRequirements)
    throw invalid('ComputeResourceRequirements must not be specified with BaseInferenceComponentName.');
  if (specification.Container?.ArtifactUrl === undefined) throw invalid('An adapter needs a Container with an ArtifactUrl.');
  return [specification];
};

/** @throws AwsError ValidationException */
const getComponent = (world: World, name: string): Component => {
  const component = world.components.get(keyOf(name));
  if (!component) throw notFound('inference-component', name);
  return component;
};

const requireIdle = (component: Component, verb: string): void => {
  const state = BUSY[component.status];
  if (state !== undefined) throw busy(verb, 'inference-component', component.name, state);
};

const beginUpdate = (world: World, component: Component): void => {
  component.status = 'Updating';
  component.failureReason = undefined;
  component.modifiedAt = world.timeline.time();
};

/** Changes the number of copies. Zero is allowed here, other than at creation. */
export const setCopies = (world: World, component: Component, copies: number): void => {
  requireIdle(component, 'update');
  if (baseNameOf(component) !== undefined) throw invalid('An adapter inference component has no copies of its own.');
  beginUpdate(world, component);
  component.desiredCopies = copies;
};

export const updateRuntimeConfig = (world: World, body: unknown): object => {
  const input = readInput(UpdateRuntimeConfig, body);
  const component = getComponent(world, input.InferenceComponentName);
  setCopies(world, component, input.DesiredRuntimeConfig.CopyCount);
  return { InferenceComponentArn: component.arn };
};

export const updateComponent = (world: World, body: unknown): object => {
  const input = readInput(UpdateInferenceComponent, body);
  const component = getComponent(world, input.InferenceComponentName);
  const hasSpecification = input.Specification !== undefined || input.Specifications !== undefined;
  if (!hasSpecification && !input.RuntimeConfig) throw invalid('An update needs a Specification or a RuntimeConfig.');
  requireIdle(component, 'update');
  if (baseNameOf(component) !== undefined) throw invalid('Update operation is not supported for adapter inference components.');
  const variant = getEndpoint(world, component.endpointName).variants.find(({ name }) => name === component.variantName);
  if (!variant) throw invalid(`Could not find production variant "${component.variantName}".`);
  if (hasSpecification) {
    const specifications = readSpecifications(world, variant, input);
    component.previous = { specifications: component.specifications, revision: component.revision };
    component.specifications = specifications;
    component.revision += 1;
  }
  component.desiredCopies = input.RuntimeConfig?.CopyCount ?? component.desiredCopies;
  component.deploymentConfig = input.DeploymentConfig ?? component.deploymentConfig;
  beginUpdate(world, component);
  return { InferenceComponentArn: component.arn };
};

export const deleteComponent = (world: World, body: unknown): object => {
  const component = getComponent(world, readInput(ByName, body).InferenceComponentName);
  requireIdle(component, 'delete');
  if ([...world.components.values()].some((other) => keyOf(baseNameOf(other) ?? '') === keyOf(component.name)))
    throw baseOfAdapters(component.name);
  component.status = 'Deleting';
  component.modifiedAt = world.timeline.time();
  for (const copy of component.copies) removeCopy(world, component, copy);
  world.timeline.after(world.settings().times.delete_ms, () => {
    if (world.components.get(keyOf(component.name)) === component) world.components.delete(keyOf(component.name));
  });
  return {};
};

const describeSpecification = (world: World, specification: Specification) => {
  const { Container, ModelName, ...rest } = specification;
  const image = Container?.Image ?? (ModelName === undefined ? undefined : world.models.get(keyOf(ModelName))?.image);
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

export const describeComponent = (world: World, body: unknown): object => {
  const component = getComponent(world, readInput(ByName, body).InferenceComponentName);
  const specifications = component.specifications.map((specification) => describeSpecification(world, specification));
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

export const listComponents = (world: World, body: unknown): object => {
  const { StatusEquals: status, EndpointNameEquals: endpoint, VariantNameEquals: variant } = readInput(ListComponents, body);
  const found = [...world.components.values()].filter(
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
