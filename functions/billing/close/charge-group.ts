import * as z from 'zod';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';

const Sum = z
  .string()
  .regex(/^-?\d+$/)
  .transform(BigInt);

// Events of one group have the same values. Events of tokens have a model (null: the function crashed), and those of
// GPU time a deployment.
const names = {
  model: z.string().nullable(),
  deployment: z.string().nullable(),
  deployment_name: z.string().nullable(),
  instance_type: z.string().nullable(),
  price_version: z.string().nullable(),
  /** The price version by which the events were rated before; null if they don't adjust other events. */
  rerate_from: z.string().nullable(),
};

/** Events that are charged at the same price, as stored in a file. Differences of groups can be negative. */
export const ChargeGroup = z.object({
  ...names,
  events: z.int(),
  /** Prompt tokens without the cached ones. */
  prompt_tokens: Sum,
  cached_tokens: Sum,
  completion_tokens: Sum,
  /** Seconds × instances. */
  instance_seconds: Sum,
  cost_nanos: Sum,
  /** The part of the cost that was paid from prepaid credit. */
  prepaid_nanos: Sum,
});
export type ChargeGroup = z.output<typeof ChargeGroup>;

type GroupNames = Pick<ChargeGroup, keyof typeof names>;
const NAMES = Object.keys(names) as (keyof GroupNames)[];
const SUMS = ['prompt_tokens', 'cached_tokens', 'completion_tokens', 'instance_seconds', 'cost_nanos', 'prepaid_nanos'] as const;

const NO_NAMES: GroupNames = {
  model: null,
  deployment: null,
  deployment_name: null,
  instance_type: null,
  price_version: null,
  rerate_from: null,
};
const NO_SUMS = {
  events: 0,
  prompt_tokens: 0n,
  cached_tokens: 0n,
  completion_tokens: 0n,
  instance_seconds: 0n,
  cost_nanos: 0n,
  prepaid_nanos: 0n,
};

const idOf = (group: GroupNames): string => JSON.stringify(NAMES.map((name) => group[name]));

/** The group of one event. */
export const usageGroup = (event: UsageEvent): ChargeGroup => {
  const cached = Math.min(event.cached_tokens, event.prompt_tokens);
  return {
    ...NO_NAMES,
    model: event.model ?? null,
    price_version: event.price_version,
    rerate_from: event.rerate?.from ?? null,
    ...NO_SUMS,
    events: 1,
    prompt_tokens: BigInt(event.prompt_tokens - cached),
    cached_tokens: BigInt(cached),
    completion_tokens: BigInt(event.completion_tokens),
    cost_nanos: event.cost_nanos,
    prepaid_nanos: event.is_prepaid ? event.cost_nanos : 0n,
  };
};

/** The group of one event of GPU time. */
export const gpuGroup = (event: GpuEvent): ChargeGroup => ({
  ...NO_NAMES,
  deployment: event.deployment_id,
  deployment_name: event.name,
  instance_type: event.instance_type,
  price_version: event.price_version,
  rerate_from: event.rerate?.from ?? null,
  ...NO_SUMS,
  events: 1,
  instance_seconds: BigInt(event.seconds) * BigInt(event.instances),
  cost_nanos: event.cost_nanos,
  prepaid_nanos: event.is_prepaid ? event.cost_nanos : 0n,
});

/** Groups by the JSON of their names. */
export type ChargeGroups = Map<string, ChargeGroup>;

/**
 * Adds a group's sums, or subtracts them if `sign` is -1. Changes `groups` in place: a month can have millions of
 * events.
 */
export const addGroup = (groups: ChargeGroups, group: ChargeGroup, sign: 1 | -1 = 1): void => {
  const id = idOf(group);
  let sums = groups.get(id);
  if (!sums) {
    sums = { ...group, ...NO_SUMS };
    groups.set(id, sums);
  }
  const factor = BigInt(sign);
  sums.events += sign * group.events;
  for (const name of SUMS) sums[name] += factor * group[name];
};

/** The groups with any sum that is not 0, in a fixed order. */
export const listGroups = (groups: ChargeGroups): ChargeGroup[] =>
  [...groups]
    .filter(([, group]) => group.events !== 0 || SUMS.some((name) => group[name] !== 0n))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, group]) => group);
