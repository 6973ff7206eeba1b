import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { BusySeconds } from '../../../../shared/usage/busy-seconds.ts';
import type { DeploymentUsage } from '../../../../shared/usage/deployment-day-store.ts';
import type { Period } from './history.ts';

/** How a deployment was used. */
export interface DeploymentUse {
  /** The times in which requests were in flight, in order and without overlaps. */
  busy: Period[];
  /** In the range. */
  requests: number;
  /** The most that were in flight on average over a day's seconds in use; null: it is not known. */
  inFlight: number | null;
  /** The requests of a day by its seconds in use, at a time in ms since the epoch. */
  requestsPerSecond: (atMs: number) => number;
}

/** Returns how a deployment was used in a range of whole days, and before it. */
export const useOf = (
  { usage, busy }: { usage: readonly DeploymentUsage[]; busy: BusySeconds },
  { fromMs, toMs }: Period,
): DeploymentUse => {
  const requestsOf = new Map<string, number>();
  const durations = new Map<string, number>();
  for (const { day, totals } of usage) {
    requestsOf.set(day, (requestsOf.get(day) ?? 0) + totals.requests);
    durations.set(day, (durations.get(day) ?? 0) + Number(totals.duration_ms_sum));
  }
  const rates = new Map<string, number>();
  let requests = 0;
  let inFlight: number | null = 0;
  for (let dayMs = fromMs; dayMs < toMs; dayMs += DAY_MS) {
    const ofDay = requestsOf.get(dayOf(dayMs)) ?? 0;
    requests += ofDay;
    const inUse = Math.max(busy.countIn(dayMs, dayMs + DAY_MS), 1);
    rates.set(dayOf(dayMs), ofDay / inUse);
    const durationMs = durations.get(dayOf(dayMs)) ?? 0;
    if (ofDay > 0 && durationMs === 0) inFlight = null;
    if (inFlight !== null) inFlight = Math.max(inFlight, durationMs / SECOND_MS / inUse);
  }
  return { busy: busy.periods(), requests, inFlight, requestsPerSecond: (atMs) => rates.get(dayOf(atMs)) ?? 0 };
};
