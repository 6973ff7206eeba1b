import * as z from 'zod';
import { readInput, wireTime } from '../../http/json-api.ts';
import { hardwareOf } from './hardware.ts';
import { listPage } from './listing.ts';
import type { EndpointConfig } from './records.ts';
import { alreadyExists, invalid, notFound } from './requests/errors.ts';
import { CreateEndpointConfig, type InstancePool, type VariantSettings } from './requests/inputs.ts';
import { keyOf, Name } from './requests/names.ts';
import { type AccountState, newResource } from './state.ts';

const ByName = z.object({ EndpointConfigName: Name });

/** The instance types of a variant by priority; a variant with one type has one pool. */
export const poolsOf = ({ InstanceType, InstancePools }: VariantSettings): InstancePool[] =>
  InstancePools?.toSorted((a, b) => a.Priority - b.Priority) ?? (InstanceType === undefined ? [] : [{ InstanceType, Priority: 1 }]);

const checkVariant = (state: AccountState, variant: VariantSettings, hasRole: boolean): void => {
  const at = `Production variant ${variant.VariantName}`;
  if ((variant.InstanceType === undefined) === (variant.InstancePools === undefined))
    throw invalid(`${at}: specify either InstanceType or InstancePools.`);
  for (const { InstanceType } of poolsOf(variant))
    if (!hardwareOf(InstanceType))
      throw invalid(
        `1 validation error detected: Value '${InstanceType}' at 'productionVariants' failed to satisfy constraint: Member must satisfy enum value set`,
      );
  if (variant.ModelName === undefined && !hasRole) throw invalid(`${at}: ExecutionRoleArn is required for inference components.`);
  const scaling = variant.ManagedInstanceScaling;
  if (scaling && scaling.MinInstanceCount > scaling.MaxInstanceCount)
    throw invalid(`${at}: MinInstanceCount must not exceed MaxInstanceCount.`);
  if (scaling?.MinInstanceCount === 0 && !state.settings().allows_zero_instances)
    throw invalid(`${at}: MinInstanceCount must be greater than or equal to 1.`);
};

export const createEndpointConfig = (state: AccountState, body: unknown): object => {
  const { EndpointConfigName: name, Tags, ...definition } = readInput(CreateEndpointConfig, body);
  if (state.configs.has(keyOf(name))) throw alreadyExists('endpoint-config', name);
  for (const variant of definition.ProductionVariants) {
    checkVariant(state, variant, definition.ExecutionRoleArn !== undefined);
    if (variant.ModelName !== undefined && !state.models.has(keyOf(variant.ModelName))) throw notFound('model', variant.ModelName);
  }
  const config: EndpointConfig = {
    ...newResource(state, 'endpoint-config', name, Tags),
    definition,
    variants: definition.ProductionVariants,
  };
  state.configs.set(keyOf(name), config);
  return { EndpointConfigArn: config.arn };
};

/** @throws AwsError ValidationException */
export const findConfig = (state: AccountState, name: string): EndpointConfig => {
  const config = state.configs.get(keyOf(name));
  if (!config) throw notFound('endpoint-config', name);
  return config;
};

export const describeEndpointConfig = (state: AccountState, body: unknown): object => {
  const { definition, name, arn, createdAt } = findConfig(state, readInput(ByName, body).EndpointConfigName);
  return { ...definition, EndpointConfigName: name, EndpointConfigArn: arn, CreationTime: wireTime(createdAt) };
};

/** As on AWS, a configuration can be deleted while an endpoint uses it. */
export const deleteEndpointConfig = (state: AccountState, body: unknown): object => {
  const { name } = findConfig(state, readInput(ByName, body).EndpointConfigName);
  state.configs.delete(keyOf(name));
  return {};
};

export const listEndpointConfigs = (state: AccountState, body: unknown): object => {
  const { items, NextToken } = listPage(state.configs.values(), body);
  const EndpointConfigs = items.map(({ name, arn, createdAt }) => ({
    EndpointConfigName: name,
    EndpointConfigArn: arn,
    CreationTime: wireTime(createdAt),
  }));
  return { EndpointConfigs, NextToken };
};
