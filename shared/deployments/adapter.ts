import * as z from 'zod';
import { ModelName } from '../models/model.ts';
import { DeploymentReason } from './reason.ts';

/** The most adapters of a deployment. */
export const MAX_ADAPTERS = 8;
// SageMaker's maximum.
const MAX_ADAPTER_RANK = 512;

/** The adapters that a generation's containers can load. They are started for it, so it never changes. */
export const AdapterSupport = z.object({
  max_rank: z.int().min(1).max(MAX_ADAPTER_RANK),
  /** How many are on the accelerators at the same time; requests for others wait. */
  max_loaded: z.int().min(1).max(MAX_ADAPTERS),
});
export type AdapterSupport = z.infer<typeof AdapterSupport>;

/**
 * `pending`: its files are to be checked and stored as an archive. `creating`: they are, and no generation that gets
 * requests has loaded it yet. `deleting`: it gets no requests, and is removed from AWS.
 */
export const AdapterState = z.enum(['pending', 'creating', 'ready', 'failed', 'deleting']);

const UnixMs = z.int().min(0);

/** A LoRA adapter of a deployment, at rest. */
export const Adapter = z.object({
  id: z.string(),
  /** The served name: the `model` of requests. */
  name: ModelName,
  /** The folder with its files: `s3://bucket/prefix/`. */
  source: z.string(),
  created_at: UnixMs,
  created_by: z.string(),
  state: AdapterState,
  /** Why it failed. */
  reason: DeploymentReason.optional(),
  /** Set once its archive is stored, with the facts that were checked. */
  packed: z.object({ rank: z.int().min(1), bytes: z.int().min(1) }).optional(),
  /** While it is being deleted: the time since which nothing of it is on AWS. */
  empty_since: UnixMs.optional(),
});
export type Adapter = z.output<typeof Adapter>;

/** The adapter has an archive that SageMaker loads, or is to load. */
export const isServed = ({ state, packed }: Adapter): boolean => packed !== undefined && (state === 'creating' || state === 'ready');
