import * as z from 'zod';
import { readInput, wireTime } from '../../http/json-api.ts';
import { findConfig, poolsOf } from './endpoint-configs.ts';
import { stateChange } from './events.ts';
import { checkQuota, provision, release } from './instances.ts';
import { listPage } from './listing.ts';
import type { Endpoint, EndpointStatus, Variant } from './records.ts';
import { alreadyExists, endpointInProgress, hasComponents, notFound } from './requests/errors.ts';
import { CreateEndpoint, UpdateEndpoint, type VariantSettings } from './requests/inputs.ts';
import { arnOf, keyOf, Name } from './requests/names.ts';
import { type AccountState, componentsOf, findEndpoint, newResource } from './state.ts';

const ByName = z.object({ EndpointName: Name });

/** Changes the status and sends its event. */
export const setEndpointStatus = (state: AccountState, endpoint: Endpoint, status: EndpointStatus, failureReason?: string): void => {
  endpoint.status = status;
  endpoint.failureReason = failureReason;
  endpoint.modifiedAt = state.timeline.time();
  state.emit(stateChange(endpoint));
};

const newVariant = (settings: VariantSettings): Variant => ({
  name: settings.VariantName,
  settings,
  pools: poolsOf(settings),
  instances: [],
});

export const createEndpoint = (state: AccountState, body: unknown): object => {
  const { EndpointName: name, EndpointConfigName, Tags } = readInput(CreateEndpoint, body);
  if (state.endpoints.has(keyOf(name))) throw alreadyExists('endpoint', name);
  const config = findConfig(state, EndpointConfigName);
  const variants = config.variants.map(newVariant);
  for (const { pools, settings } of variants) if (pools[0]) checkQuota(state, pools[0].InstanceType, settings.InitialInstanceCount);
  const endpoint: Endpoint = {
    ...newResource(state, 'endpoint', name, Tags),
    configName: config.name,
    status: 'Creating',
    failureReason: undefined,
    variants,
  };
  state.endpoints.set(keyOf(name), endpoint);
  setEndpointStatus(state, endpoint, 'Creating');
  for (const variant of variants) provisionInstances(state, endpoint, variant, variant.settings.InitialInstanceCount);
  return { EndpointArn: endpoint.arn };
};

// If an instance of a new endpoint fails, the endpoint does.
const provisionInstances = (state: AccountState, endpoint: Endpoint, variant: Variant, count: number): void => {
  for (let missing = count - variant.instances.length; missing > 0; missing -= 1)
    provision(state, endpoint, variant, (reason) => {
      if (endpoint.status !== 'Creating') return;
      for (const { instances } of endpoint.variants)
        for (const instance of instances) state.instanceTime.end(instance.id, state.timeline.time());
      for (const other of endpoint.variants) other.instances = [];
      setEndpointStatus(state, endpoint, 'Failed', reason);
    });
};

/** @throws AwsError ValidationException */
export const getEndpoint = (state: AccountState, name: string): Endpoint => {
  const endpoint = findEndpoint(state, name);
  if (!endpoint) throw notFound('endpoint', name);
  return endpoint;
};

const isInProgress = ({ status }: Endpoint): boolean => status === 'Creating' || status === 'Updating' || status === 'Deleting';

export const updateEndpoint = (state: AccountState, body: unknown): object => {
  const { EndpointName, EndpointConfigName, RetainAllVariantProperties: isRetained } = readInput(UpdateEndpoint, body);
  const endpoint = getEndpoint(state, EndpointName);
  const config = findConfig(state, EndpointConfigName);
  if (isInProgress(endpoint)) throw endpointInProgress(endpoint.name);
  setEndpointStatus(state, endpoint, 'Updating');
  state.timeline.after(state.settings().times.update_ms, () => {
    if (findEndpoint(state, endpoint.name) !== endpoint || endpoint.status !== 'Updating') return;
    endpoint.configName = config.name;
    applySettings(state, endpoint, config.variants, isRetained);
    setEndpointStatus(state, endpoint, 'InService');
  });
  return { EndpointArn: endpoint.arn };
};

// Instances of types that are no longer wanted go, with their copies. Without `RetainAllVariantProperties`, the initial
// count applies again.
const applySettings = (state: AccountState, endpoint: Endpoint, variants: readonly VariantSettings[], isRetained: boolean): void => {
  const before = endpoint.variants;
  endpoint.variants = variants.map((settings) => {
    const same = before.find(({ name }) => name === settings.VariantName);
    return same ? Object.assign(same, { settings, pools: poolsOf(settings) }) : newVariant(settings);
  });
  for (const variant of before) {
    const isKept = endpoint.variants.includes(variant);
    for (const instance of variant.instances)
      if (!isKept || !variant.pools.some(({ InstanceType }) => InstanceType === instance.type)) release(state, variant, instance);
    if (!isKept || isRetained) continue;
    for (const instance of variant.instances.slice(variant.settings.InitialInstanceCount)) release(state, variant, instance);
    provisionInstances(state, endpoint, variant, variant.settings.InitialInstanceCount);
  }
  for (const variant of endpoint.variants)
    if (!before.some(({ name }) => name === variant.name))
      provisionInstances(state, endpoint, variant, variant.settings.InitialInstanceCount);
};

/** As on AWS, components are deleted first. */
export const deleteEndpoint = (state: AccountState, body: unknown): object => {
  const endpoint = getEndpoint(state, readInput(ByName, body).EndpointName);
  if (isInProgress(endpoint)) throw endpointInProgress(endpoint.name);
  if (componentsOf(state, endpoint).length > 0) throw hasComponents();
  setEndpointStatus(state, endpoint, 'Deleting');
  state.timeline.after(state.settings().times.delete_ms, () => {
    for (const variant of endpoint.variants) for (const instance of variant.instances) release(state, variant, instance);
    if (findEndpoint(state, endpoint.name) === endpoint) state.endpoints.delete(keyOf(endpoint.name));
  });
  return {};
};

const describeVariant = ({ name, settings, pools, instances }: Variant, status: EndpointStatus) => {
  const ready = instances.filter(({ state }) => state === 'ready');
  const countOf = (instanceType: string): number => ready.filter(({ type }) => type === instanceType).length;
  return {
    VariantName: name,
    CurrentWeight: 1,
    DesiredWeight: 1,
    CurrentInstanceCount: ready.length,
    DesiredInstanceCount: instances.length,
    InstancePools:
      settings.InstancePools && pools.map(({ InstanceType }) => ({ InstanceType, CurrentInstanceCount: countOf(InstanceType) })),
    ManagedInstanceScaling: settings.ManagedInstanceScaling,
    RoutingConfig: settings.RoutingConfig,
    ...((status === 'Creating' || status === 'Updating') && { VariantStatus: [{ Status: status }] }),
  };
};

export const describeEndpoint = (state: AccountState, body: unknown): object => {
  const endpoint = getEndpoint(state, readInput(ByName, body).EndpointName);
  return {
    EndpointName: endpoint.name,
    EndpointArn: endpoint.arn,
    EndpointConfigName: endpoint.configName,
    EndpointStatus: endpoint.status,
    FailureReason: endpoint.failureReason,
    ProductionVariants: endpoint.variants.map((variant) => describeVariant(variant, endpoint.status)),
    CreationTime: wireTime(endpoint.createdAt),
    LastModifiedTime: wireTime(endpoint.modifiedAt),
  };
};

const ListEndpoints = z.object({ StatusEquals: z.string().optional() });

export const listEndpoints = (state: AccountState, body: unknown): object => {
  const { StatusEquals: wanted } = readInput(ListEndpoints, body);
  const found = [...state.endpoints.values()].filter(({ status }) => wanted === undefined || status === wanted);
  const { items, NextToken } = listPage(found, body, ({ status }) => status);
  const Endpoints = items.map(({ name, status, createdAt, modifiedAt }) => ({
    EndpointName: name,
    EndpointArn: arnOf('endpoint', name),
    EndpointStatus: status,
    CreationTime: wireTime(createdAt),
    LastModifiedTime: wireTime(modifiedAt),
  }));
  return { Endpoints, NextToken };
};
