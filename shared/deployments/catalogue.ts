import * as z from 'zod';
import { DialectName, MAX_PRICES } from '../models/model.ts';
import { InstancePrice } from '../prices/instance-price.ts';
import { Price } from '../prices/price.ts';

/** `retired`: nothing new can use the entry. What uses it already goes on. */
export const EntryStatus = z.enum(['available', 'retired']);

// Incremented by every change; 0: an entry of the release that nobody has changed.
const Version = z.int().min(0);

/** A model server that deployments can run, at rest. */
export const Runtime = z.object({
  id: z.string(),
  description: z.string(),
  /** A repository of AWS's own images with a tag, or the URI of an image; never a tag that moves. */
  image: z.string(),
  /** SageMaker's `InferenceAmiVersion`; absent: the default of the instance type. */
  ami: z.string().optional(),
  dialect: DialectName,
  status: EntryStatus,
  version: Version,
});
export type Runtime = z.infer<typeof Runtime>;

/** Enough for a new price each week for nine years; a row of them has 50 KB. */
export const MAX_INSTANCE_PRICES = 500;

/** An instance type of SageMaker that deployments can run on, at rest. */
export const InstanceType = z.object({
  id: z.string(),
  /** Such as `NVIDIA A10G`. */
  accelerator: z.string(),
  /** Accelerators of an instance. */
  accelerators: z.int().min(1),
  /** The memory of each accelerator. */
  accelerator_memory_gib: z.number(),
  /** The memory of the instance. */
  memory_gib: z.number(),
  /** Sluice's charge for an instance. Without a price in force, nothing can use the type. */
  prices: z.array(InstancePrice).max(MAX_INSTANCE_PRICES),
  /** The platform's own cost of an instance. Nothing is charged by it. Absent in rows of earlier versions. */
  costs: z.array(InstancePrice).max(MAX_INSTANCE_PRICES).optional(),
  status: EntryStatus,
  version: Version,
});
export type InstanceType = z.infer<typeof InstanceType>;

/** The most surcharges on adapters. A model has one more price: an adapter is free until the first one. */
export const MAX_ADAPTER_PRICES = MAX_PRICES - 1;

/** The surcharges on the tokens of all adapters, at rest. */
export const AdapterPrices = z.object({
  id: z.literal('adapters'),
  prices: z.array(Price).max(MAX_ADAPTER_PRICES),
  version: Version,
});
export type AdapterPrices = z.infer<typeof AdapterPrices>;
