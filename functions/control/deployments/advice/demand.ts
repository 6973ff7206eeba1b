import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { type Cycle, type Period, wantedUntilMs } from './history.ts';

/** Requests that followed one another, as if their deployment had been awake. */
export interface Demand {
  /** The arrival of the first, in ms since the epoch. */
  atMs: number;
  /** For how long at least one of them was being answered. 0: callers got a 503 with a time to retry. */
  serviceMs: number;
}

// From the arrival of a request until the instances that it started are metered.
const LONGEST_LEAD_MS = 10 * MINUTE_MS;

const byTime = (one: Demand, other: Demand): number => one.atMs - other.atMs;

/**
 * The window for which a cycle began, if it began for one. The predicted start can have changed by minutes since.
 * @param before the cycle before it: a window that it was awake for did not begin another one
 */
export const windowOf = ({ fromMs }: Cycle, windows: readonly Period[], before: Cycle | undefined): Period | undefined =>
  windows.find((window) => Math.abs(window.fromMs - fromMs) <= LONGEST_LEAD_MS && window.fromMs >= (before ? wantedUntilMs(before) : 0));

/**
 * Returns when callers used a deployment, in the order of time: without the time that they waited until it was awake,
 * and without requests that nothing answered. A start that no request waited for, and that is not one of a window, was
 * caused by a caller who got a 503 with a time to retry, or by its owner.
 * @param busy the times in which requests were in flight, in order and without overlaps
 * @param cycles all that ran in these times, in order
 * @param windows of its schedule at the time, each from when it starts for it
 */
export const demandOf = (busy: readonly Period[], cycles: readonly Cycle[], windows: readonly Period[]): Demand[] => {
  const causes = new Set<Cycle>();
  let next = 0;
  const ofRequests = busy.flatMap(({ fromMs, toMs }): Demand[] => {
    while (next < cycles.length && wantedUntilMs(cycles[next] as Cycle) <= fromMs) next++;
    const cycle = cycles[next];
    if (!cycle || cycle.fromMs >= toMs + LONGEST_LEAD_MS) return [];
    if (cycle.readyMs <= fromMs) return [{ atMs: fromMs, serviceMs: toMs - fromMs }];
    causes.add(cycle);
    return [{ atMs: fromMs, serviceMs: Math.max(0, toMs - cycle.readyMs) }];
  });
  const isOther = (cycle: Cycle, i: number): boolean => !causes.has(cycle) && windowOf(cycle, windows, cycles[i - 1]) === undefined;
  const others = cycles.filter(isOther).map(({ fromMs }): Demand => ({ atMs: fromMs, serviceMs: 0 }));
  return [...ofRequests, ...others].sort(byTime);
};
