import { MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { type Basis, replay, type Wait } from './replay.ts';
import { type Charges, costOfReplay } from './replayed-cost.ts';

/** A setting, and what it would have meant for the days that were replayed. */
export interface Option {
  /** null: it never sleeps. */
  idleSeconds: number | null;
  instanceSeconds: bigint;
  costNanos: bigint;
  coldStarts: number;
  /** Requests that had to wait for a start, or were told to come back. */
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
}

// From the least that a deployment can have to a day.
const IDLE_MINUTES = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 480, 1_440] as const;

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

const optionOf = ({ basis, charges, requests }: OptionBasis, idleSeconds: number | null): Option => {
  const { awake, coldStarts, waits } = replay(basis, idleSeconds === null ? {} : { idleMs: idleSeconds * SECOND_MS });
  return {
    idleSeconds,
    ...costOfReplay(awake, charges),
    coldStarts,
    waitingRequests: Math.round(waits.reduce((sum, wait) => sum + wait.requests, 0)),
    waitP50Ms: waitAt(waits, requests, 0.5),
    waitP95Ms: waitAt(waits, requests, 0.95),
    waitedMs: Math.round(waits.reduce((sum, { ms, requests: waiting }) => sum + ms * waiting, 0)),
  };
};

/**
 * Returns what each idle time would have meant, from the shortest to never, the present one among them.
 * @param presentSeconds null: it never sleeps
 */
export const optionsOf = (of: OptionBasis, presentSeconds: number | null): Option[] => {
  const seconds = new Set(IDLE_MINUTES.map((minutes) => (minutes * MINUTE_MS) / SECOND_MS));
  if (presentSeconds !== null) seconds.add(presentSeconds);
  return [...[...seconds].sort((one, other) => one - other), null].map((idleSeconds) => optionOf(of, idleSeconds));
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
