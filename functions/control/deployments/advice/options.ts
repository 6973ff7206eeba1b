import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { Settings } from './candidates.ts';
import { type Basis, replay, type Speed, type Wait } from './replay.ts';
import { type Charges, costOfReplay, type LeastCopies } from './replayed-cost.ts';

/** Settings, and what they would have meant for the days that were replayed. */
export interface Option extends Settings {
  instanceSeconds: bigint;
  costNanos: bigint;
  coldStarts: number;
  /** Requests that waited for a start, or got a 503 with a time to retry. */
  waitingRequests: number;
  /** The time that half of all requests waited at most, and 95 of 100. */
  waitP50Ms: number;
  waitP95Ms: number;
  /** The waits of all requests together. */
  waitedMs: number;
}

export interface OptionBasis {
  basis: Basis;
  charges: Charges;
  /** All requests of the days. */
  requests: number;
  /** The minimum copies at each time, with other settings. */
  leastCopiesOf: (settings: Settings) => LeastCopies;
  /** Absent: as fast as it was. */
  speed?: Speed;
}

/** The wait that a share of all requests did not exceed, in ms; those without a wait count as 0. */
export const waitAt = (waits: readonly Wait[], requests: number, share: number): number => {
  const waiting = waits.reduce((sum, wait) => sum + wait.requests, 0);
  // As many requests can wait longer.
  let longer = Math.max(requests, waiting) * (1 - share);
  for (const wait of waits.toSorted((one, other) => other.ms - one.ms)) {
    if (wait.requests > longer) return wait.ms;
    longer -= wait.requests;
  }
  return 0;
};

/** Returns what some settings would have meant. */
export const optionOf = ({ basis, charges, requests, leastCopiesOf, speed }: OptionBasis, settings: Settings): Option => {
  const { idleSeconds } = settings;
  const least = leastCopiesOf(settings);
  const { awake, coldStarts, waits } = replay(basis, {
    windows: least.windows,
    ...(speed && { speed }),
    ...(idleSeconds !== null && { idleMs: idleSeconds * SECOND_MS }),
  });
  return {
    ...settings,
    ...costOfReplay(awake, charges, least),
    coldStarts,
    waitingRequests: Math.round(waits.reduce((sum, wait) => sum + wait.requests, 0)),
    waitP50Ms: waitAt(waits, requests, 0.5),
    waitP95Ms: waitAt(waits, requests, 0.95),
    waitedMs: Math.round(waits.reduce((sum, { ms, requests: waiting }) => sum + ms * waiting, 0)),
  };
};

// Neither costs nor makes callers wait more, and is better in one of the two.
const isBetter = (one: Option, other: Option): boolean =>
  one.costNanos <= other.costNanos && one.waitedMs <= other.waitedMs && (one.costNanos < other.costNanos || one.waitedMs < other.waitedMs);

/** The options of which none is better than another in both cost and waiting time, cheapest first. */
export const frontierOf = (options: readonly Option[]): Option[] => {
  const best = options.filter((option) => !options.some((other) => isBetter(other, option)));
  const distinct = best.filter(
    (option, i) => best.findIndex(({ costNanos, waitedMs }) => costNanos === option.costNanos && waitedMs === option.waitedMs) === i,
  );
  return distinct.sort((one, other) => (one.costNanos < other.costNanos ? -1 : 1));
};
