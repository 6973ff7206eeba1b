import * as z from 'zod';
import { priceAt } from './price.ts';

/** $1,000,000 per instance-hour. */
export const MAX_HOUR_NANOS = 1e15;

/** A price version of an instance type: never edited, replaced by one with a later date. */
export const InstancePrice = z.strictObject({
  version: z.string().min(1).max(40),
  /** Milliseconds since the epoch. */
  effective_at: z.int().min(0),
  /** Nano-dollars per instance-hour: $1.41 is 1,410,000,000. */
  hour_nanos: z.int().min(0).max(MAX_HOUR_NANOS),
});
export type InstancePrice = z.infer<typeof InstancePrice>;

/** The price of an instance type in force at `nowMs`: the latest that is already effective. */
export const instancePriceAt = (prices: readonly InstancePrice[], nowMs: number): InstancePrice | undefined => priceAt(prices, nowMs);

const HOUR_SECONDS = 3_600n;

/** The cost of instances that ran for some whole seconds, in nano-dollars, rounded once, half up. */
export const gpuCostNanos = ({ hour_nanos }: Pick<InstancePrice, 'hour_nanos'>, seconds: number, instances: number): bigint =>
  (BigInt(hour_nanos) * BigInt(seconds) * BigInt(instances) + HOUR_SECONDS / 2n) / HOUR_SECONDS;
