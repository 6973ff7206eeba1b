import { createHash } from 'node:crypto';
import * as z from 'zod';
import { InstancePhase } from '../deployments/deployment.ts';
import { base62Of } from '../ids/base62.ts';
import { prefixes, RANDOM_CHARACTERS, TIME_CHARACTERS, timeOfId } from '../ids/id.ts';
import { Nanos, PriceCorrection } from './event.ts';

/**
 * The billed record of GPU time: an immutable event for an interval in which the same instances of a deployment ran
 * at the same price, within a UTC day.
 */
export const GpuEvent = z.object({
  id: z.string(),
  deployment_id: z.string(),
  org_id: z.string(),
  /** The served name. */
  name: z.string(),
  generation: z.int().min(1),
  instance_type: z.string(),
  instances: z.int().min(1),
  phase: InstancePhase,
  /** Milliseconds since the epoch: whole seconds. `ended_at` is exclusive. */
  started_at: z.int(),
  ended_at: z.int(),
  /** Between the two; each of the instances ran that long. 0 if the event only adjusts the cost of another one. */
  seconds: z.int().min(0),
  /** The charge, computed with `price_version`. */
  cost_nanos: Nanos,
  /** null: no price was in force, so nothing is charged. */
  price_version: z.string().nullable(),
  /** It adjusts the cost of the event whose id comes before the `#` of its own: `cost_nanos` is the difference. */
  rerate: PriceCorrection.optional(),
  /** It was paid from its organization's prepaid credit. */
  is_prepaid: z.literal(true).optional(),
  /** It cost more than the rest of the prepaid credit, which is the most that it is charged. */
  is_capped: z.literal(true).optional(),
});
export type GpuEvent = z.output<typeof GpuEvent>;

/**
 * Returns the id of an event. It follows from the instances and their start, so that metering an interval again writes
 * the same item. Ids sort by the interval's start.
 */
export const gpuEventId = (of: Pick<GpuEvent, 'deployment_id' | 'generation' | 'instance_type' | 'phase' | 'started_at'>): string => {
  const facts = [of.deployment_id, of.generation, of.instance_type, of.phase, of.started_at].join('#');
  return (
    prefixes.gpuTime + timeOfId(of.started_at) + base62Of(createHash('sha256').update(facts).digest(), RANDOM_CHARACTERS - TIME_CHARACTERS)
  );
};
