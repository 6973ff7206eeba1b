import * as z from 'zod';
import { EntryStatus, type InstanceType } from '../../../shared/deployments/catalogue.ts';
import { Dollars, dollarsOf, nanosOf } from '../../../shared/prices/dollars.ts';
import { type InstancePrice, instancePriceAt, MAX_HOUR_NANOS } from '../../../shared/prices/instance-price.ts';
import { newestFirst } from '../../../shared/prices/price-version.ts';
import { unixSeconds } from '../../../shared/time/units.ts';

const Accelerator = z.string().trim().min(1).max(100);
const Gib = z.number().gt(0).max(100_000);

/** The body that adds an instance type to the catalogue. */
export const NewInstanceType = z.strictObject({
  id: z
    .string()
    .max(63)
    .regex(/^ml\.[a-z0-9-]+\.[a-z0-9]+$/, 'expected an instance type of SageMaker, such as "ml.g5.xlarge"')
    .meta({ description: "SageMaker's name of the instance type.", examples: ['ml.g7.2xlarge'] }),
  accelerator: Accelerator.meta({ description: 'The kind of its accelerators.', examples: ['NVIDIA A10G'] }),
  accelerators: z.int().min(1).max(64).meta({ description: 'The number of accelerators of an instance.' }),
  accelerator_memory_gib: Gib.meta({ description: 'The memory of each accelerator.' }),
  memory_gib: Gib.meta({ description: 'The memory of an instance.' }),
});
export type NewInstanceType = z.output<typeof NewInstanceType>;

export const InstanceTypeUpdate = z.strictObject({
  status: EntryStatus.meta({ description: '`retired`: no new deployment or generation can use it. Those that do keep it.' }),
});
export type InstanceTypeUpdate = z.output<typeof InstanceTypeUpdate>;

/** The body that adds a price version. */
export const NewInstancePrice = z.strictObject({
  per_hour: Dollars.refine(
    (dollars) => (nanosOf(dollars) ?? 0n) <= BigInt(MAX_HOUR_NANOS),
    `expected at most ${dollarsOf(BigInt(MAX_HOUR_NANOS))} dollars`,
  ).meta({
    description: 'Dollars per hour of an instance, with at most nine decimals. Time is charged by the second.',
    examples: ['1.41'],
  }),
  effective_at: z
    .int()
    .min(0)
    .max(99_999_999_999)
    .optional()
    .meta({ description: 'When the price takes effect. Unix time in seconds. Default: now.' }),
});
export type NewInstancePrice = z.output<typeof NewInstancePrice>;

/** The body that adds a cost version. */
export const NewInstanceCost = z.strictObject({
  per_hour: NewInstancePrice.shape.per_hour.meta({
    description: 'Dollars that an hour of an instance costs the platform, with at most nine decimals.',
    examples: ['1.01'],
  }),
  effective_at: z.int().min(0).max(99_999_999_999).optional().meta({
    description:
      'From when instances cost that much: also a time in the past, because nothing is charged by it. Unix time in seconds. Default: now.',
  }),
});
export type NewInstanceCost = z.output<typeof NewInstanceCost>;

// A price version never changes.
const InstancePriceFigures = z.object({
  version: z.string().meta({ description: 'The id of the price version. The usage of GPU time refers to it.' }),
  per_hour: z.string().meta({ description: 'Dollars per hour of an instance: an exact decimal number.' }),
  effective_at: z.int().meta({ description: 'When the price takes effect. Unix time in seconds.' }),
});
type InstancePriceFigures = z.infer<typeof InstancePriceFigures>;

export const InstanceTypeResource = z.object({
  object: z.literal('instance_type'),
  id: z.string().meta({ description: "SageMaker's name of the instance type." }),
  accelerator: z.string(),
  accelerators: z.int().meta({ description: 'The number of accelerators of an instance.' }),
  accelerator_memory_gib: z.number().meta({ description: 'The memory of each accelerator.' }),
  memory_gib: z.number().meta({ description: 'The memory of an instance.' }),
  status: EntryStatus,
  price: InstancePriceFigures.nullable().meta({
    description: 'The current price; null: no price is in effect yet, so deployments cannot use the type.',
  }),
  prices: z.array(InstancePriceFigures).optional().meta({ description: 'All price versions, newest first. Only for admins.' }),
  costs: z
    .array(InstancePriceFigures)
    .optional()
    .meta({ description: 'All versions of what an instance costs the platform, newest first. Only for admins.' }),
  version: z.int().meta({ description: 'Incremented by every change; 0: an entry of the release. The ETag is derived from it.' }),
});
export type InstanceTypeResource = z.infer<typeof InstanceTypeResource>;

export const InstanceTypeList = z.object({ object: z.literal('list'), data: z.array(InstanceTypeResource) });
export type InstanceTypeList = z.infer<typeof InstanceTypeList>;

const figuresOf = ({ version, hour_nanos, effective_at }: InstancePrice): InstancePriceFigures => ({
  version,
  per_hour: dollarsOf(BigInt(hour_nanos)),
  effective_at: unixSeconds(effective_at),
});

/** Converts an instance type to the wire. Only admins see all of its price versions. */
export const toResource = (type: InstanceType, { isAdmin, nowMs }: { isAdmin: boolean; nowMs: number }): InstanceTypeResource => {
  const { id, accelerator, accelerators, accelerator_memory_gib, memory_gib, status, prices, costs = [], version } = type;
  const price = instancePriceAt(prices, nowMs);
  return {
    object: 'instance_type',
    id,
    accelerator,
    accelerators,
    accelerator_memory_gib,
    memory_gib,
    status,
    price: price ? figuresOf(price) : null,
    ...(isAdmin && { prices: newestFirst(prices).map(figuresOf), costs: newestFirst(costs).map(figuresOf) }),
    version,
  };
};
