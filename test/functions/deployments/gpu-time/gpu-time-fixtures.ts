import type { RunningInstances } from '../../../../shared/deployments/deployment.ts';
import type { InstancePrices } from '../../../../shared/gpu-time/intervals.ts';
import { HOUR_MS, MINUTE_MS } from '../../../../shared/time/units.ts';

/**
 * Their seconds cost whole nano-dollars, so that no sum depends on where intervals are cut: $1.4112 and then $1.512,
 * and $5.76 an hour.
 */
export const SMALL = 'ml.g5.xlarge';
export const LARGE = 'ml.g6e.4xlarge';

/** 18:00 UTC, so that a day from then on contains a midnight. */
export const START = Date.UTC(2026, 10, 21, 18);
/** In the middle of a second, as when an admin sets a price "now". */
export const PRICE_CHANGE = START + 17 * HOUR_MS + 37 * MINUTE_MS + 12_345;

export const PRICES: InstancePrices = new Map([
  [
    SMALL,
    [
      { version: 'price_s2', effective_at: PRICE_CHANGE, hour_nanos: 1_512_000_000 },
      { version: 'price_s1', effective_at: START - 30 * 24 * HOUR_MS, hour_nanos: 1_411_200_000 },
    ],
  ],
  [LARGE, [{ version: 'price_l1', effective_at: START - 30 * 24 * HOUR_MS, hour_nanos: 5_760_000_000 }]],
]);

export const small = (instances: number, fields: Partial<RunningInstances> = {}): RunningInstances => ({
  generation: 1,
  instance_type: SMALL,
  instances,
  phase: 'serving',
  ...fields,
});
