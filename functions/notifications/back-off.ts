import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/time/units.ts';

// Together they let a receiver be down for 44 hours.
const WAITS_MS: readonly number[] = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
];

// Deliveries that failed together are not repeated together.
const JITTER = 0.1;

/**
 * The wait after a failed attempt, in ms.
 * @param attempts the number of failed attempts, from 1
 * @param random from 0 to 1
 * @returns undefined after the last attempt
 */
export const waitAfter = (attempts: number, random: number): number | undefined => {
  const waitMs = WAITS_MS[attempts - 1];
  return waitMs === undefined ? undefined : Math.round(waitMs * (1 + JITTER * random));
};
