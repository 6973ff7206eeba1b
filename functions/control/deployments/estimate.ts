import * as z from 'zod';
import type { InstanceType } from '../../../shared/deployments/catalogue.ts';
import type { Deployment, Start } from '../../../shared/deployments/deployment.ts';
import { copiesPerInstance, instancesFor } from '../../../shared/deployments/instances.ts';
import { predictStart } from '../../../shared/deployments/start-times.ts';
import type { DeploymentFindings } from '../../../shared/deployments/validation.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { instancePriceAt } from '../../../shared/prices/instance-price.ts';
import { ScheduleCost, scheduleCostOf } from './schedule-cost.ts';

const HourPrice = z.object({
  min: z.string().meta({ description: 'With the minimum copies, while it is awake.' }),
  max: z.string().meta({ description: 'With the maximum copies.' }),
});

const InstanceEstimate = z.object({
  instance_type: z.string(),
  copies_per_instance: z.int().meta({ description: 'How many copies fit on an instance.' }),
  price_per_hour: HourPrice.meta({ description: 'Dollars an hour, if all copies run on this type: exact decimal numbers.' }),
  quota: z
    .object({ limit: z.int(), used: z.int(), left: z.int() })
    .nullable()
    .meta({ description: "AWS's quota of instances of this type for endpoints in this account; null: unknown." }),
});

export const Estimate = z.object({
  instance_types: z.array(InstanceEstimate).meta({ description: 'In the order of preference.' }),
  start: z
    .object({ p50_seconds: z.int(), p90_seconds: z.int() })
    .meta({ description: "How long a start is expected to take: the median, and what nine of ten starts don't exceed." }),
  schedule: ScheduleCost.nullable().meta({ description: 'What the windows of its schedule cost at least; null: it has none.' }),
  warnings: z.array(z.string()).meta({ description: 'What may keep the deployment from starting.' }),
});
export type Estimate = z.infer<typeof Estimate>;

interface Basis {
  copies: Deployment['copies'];
  schedule: NonNullable<Deployment['schedule']>;
  accelerators: number;
  types: readonly InstanceType[];
  findings: DeploymentFindings;
  /** The last starts of the deployment itself. */
  starts: readonly Start[];
  /** Durations of the last starts on the preferred type, in seconds. */
  ofType: readonly number[];
  nowMs: number;
}

const hourNanosOf = (type: InstanceType | undefined, nowMs: number): bigint =>
  BigInt((type && instancePriceAt(type.prices, nowMs)?.hour_nanos) ?? 0);

const ofInstanceType = (type: InstanceType, { copies, accelerators, findings, nowMs }: Basis): z.infer<typeof InstanceEstimate> => {
  const perInstance = copiesPerInstance(type, accelerators);
  const hourNanos = hourNanosOf(type, nowMs);
  const priceOf = (count: number): string => dollarsOf(hourNanos * BigInt(instancesFor(count, perInstance)));
  const quota = findings.quotas.find(({ instance_type }) => instance_type === type.id);
  return {
    instance_type: type.id,
    copies_per_instance: perInstance,
    price_per_hour: { min: priceOf(copies.min), max: priceOf(copies.max) },
    quota: quota ? { limit: quota.limit, used: quota.used, left: Math.max(0, quota.limit - quota.used) } : null,
  };
};

// AWS refuses an instance beyond the quota when it is started, not before, so a short quota is a warning.
const warningsOf = (estimates: readonly z.infer<typeof InstanceEstimate>[], { copies }: Basis): string[] =>
  estimates.flatMap(({ instance_type: id, copies_per_instance: perInstance, quota }) => {
    if (!quota) return [];
    const [least, most] = [instancesFor(copies.min, perInstance), instancesFor(copies.max, perInstance)];
    if (quota.left >= most) return [];
    const [what, needed] = quota.left < least ? ['start', least] : [`scale to ${copies.max} copies`, most];
    return [
      `The deployment can't ${what} on ${id}, because AWS's quota has too few instances left (needed: ${needed}, left: ${quota.left}). Ask an admin to raise the quota '${id} for endpoint usage'.`,
    ];
  });

const ofSchedule = ({ schedule, copies, types: [preferred], accelerators, nowMs }: Basis): ScheduleCost | null => {
  const perInstance = preferred ? copiesPerInstance(preferred, accelerators) : 1;
  const rates = {
    leastCopies: copies.min,
    instancesFor: (count: number) => instancesFor(count, perInstance),
    hourNanos: hourNanosOf(preferred, nowMs),
  };
  return scheduleCostOf(schedule, rates, nowMs);
};

/** Estimates a deployment's cost per hour and the time of its start. */
export const estimateOf = (basis: Basis): Estimate => {
  const instance_types = basis.types.map((type) => ofInstanceType(type, basis));
  const { p50, p90 } = predictStart(basis.starts, basis.ofType);
  return {
    instance_types,
    start: { p50_seconds: Math.round(p50), p90_seconds: Math.round(p90) },
    schedule: ofSchedule(basis),
    warnings: warningsOf(instance_types, basis),
  };
};
