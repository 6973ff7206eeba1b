import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';

/**
 * The sums of a key's events in a UTC day for one project, model, price version and, if they were rated again, earlier
 * version.
 */
export interface TokenGroup {
  project: string | null;
  model: string | null;
  priceVersion: string | null;
  ratedFrom: string | null;
  prompt: bigint;
  cachedPrompt: bigint;
  completion: bigint;
  costNanos: bigint;
  prepaidNanos: bigint;
}

/** The sums of a deployment's GPU time in a UTC day for one instance type and price version. */
export interface TimeGroup {
  deployment: string;
  name: string;
  instanceType: string;
  priceVersion: string | null;
  ratedFrom: string | null;
  seconds: bigint;
  costNanos: bigint;
  prepaidNanos: bigint;
}

const groupIn = <Group>(groups: Map<string, Group>, id: readonly (string | null)[], none: () => Group): Group => {
  const key = JSON.stringify(id);
  const group = groups.get(key) ?? none();
  groups.set(key, group);
  return group;
};

/** Adds an event in place: a day can have a million of them. */
export const addTokens = (groups: Map<string, TokenGroup>, event: UsageEvent): void => {
  const { project_id: project = null, model = null, price_version: priceVersion, rerate } = event;
  const ratedFrom = rerate?.from ?? null;
  const group = groupIn(groups, [project, model, priceVersion, ratedFrom], () => ({
    project,
    model,
    priceVersion,
    ratedFrom,
    prompt: 0n,
    cachedPrompt: 0n,
    completion: 0n,
    costNanos: 0n,
    prepaidNanos: 0n,
  }));
  const cached = Math.min(event.cached_tokens, event.prompt_tokens);
  group.prompt += BigInt(event.prompt_tokens - cached);
  group.cachedPrompt += BigInt(cached);
  group.completion += BigInt(event.completion_tokens);
  group.costNanos += event.cost_nanos;
  if (event.is_prepaid) group.prepaidNanos += event.cost_nanos;
};

/** Adds an event in place. */
export const addTime = (groups: Map<string, TimeGroup>, event: GpuEvent): void => {
  const { deployment_id: deployment, name, instance_type: instanceType, price_version: priceVersion, rerate } = event;
  const ratedFrom = rerate?.from ?? null;
  const group = groupIn(groups, [deployment, name, instanceType, priceVersion, ratedFrom], () => ({
    deployment,
    name,
    instanceType,
    priceVersion,
    ratedFrom,
    seconds: 0n,
    costNanos: 0n,
    prepaidNanos: 0n,
  }));
  group.seconds += BigInt(event.seconds) * BigInt(event.instances);
  group.costNanos += event.cost_nanos;
  if (event.is_prepaid) group.prepaidNanos += event.cost_nanos;
};
