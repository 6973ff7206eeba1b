import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/usage/bucket.ts';
import type { BusySeconds } from '../../../../shared/usage/busy-seconds.ts';
import type { DeploymentUsage } from '../../../../shared/usage/deployment-day-store.ts';
import type { Period } from './history.ts';

/** How a deployment was used. */
export interface DeploymentUse {
  /** The times in which requests were in flight, in order and apart. */
  busy: Period[];
  /** In the range. */
  requests: number;
  /** The requests of a day by its seconds in use, at a time in ms since the epoch. */
  requestsPerSecond: (atMs: number) => number;
}

const BITS = 8;

// The seconds of an hour that are set, as periods.
function* periodsOf(hourMs: number, bits: Uint8Array): Generator<Period> {
  let fromMs: number | undefined;
  for (let second = 0; second <= bits.length * BITS; second++) {
    const isBusy = ((bits[Math.floor(second / BITS)] ?? 0) & (1 << (second % BITS))) !== 0;
    const ms = hourMs + second * SECOND_MS;
    if (isBusy) fromMs ??= ms;
    else if (fromMs !== undefined) {
      yield { fromMs, toMs: ms };
      fromMs = undefined;
    }
  }
}

const busyPeriods = (busy: BusySeconds): Period[] => {
  const periods: Period[] = [];
  for (const [hourMs, bits] of [...busy.hours()].sort(([one], [other]) => one - other))
    for (const period of periodsOf(hourMs, bits)) {
      const last = periods.at(-1);
      if (last?.toMs === period.fromMs) last.toMs = period.toMs;
      else periods.push(period);
    }
  return periods;
};

/** Returns how a deployment was used in a range of whole days, and before it. */
export const useOf = (
  { usage, busy }: { usage: readonly DeploymentUsage[]; busy: BusySeconds },
  { fromMs, toMs }: Period,
): DeploymentUse => {
  const requestsOf = new Map<string, number>();
  for (const { day, totals } of usage) requestsOf.set(day, (requestsOf.get(day) ?? 0) + totals.requests);
  const rates = new Map<string, number>();
  let requests = 0;
  for (let dayMs = fromMs; dayMs < toMs; dayMs += DAY_MS) {
    const ofDay = requestsOf.get(dayOf(dayMs)) ?? 0;
    requests += ofDay;
    rates.set(dayOf(dayMs), ofDay / Math.max(busy.countIn(dayMs, dayMs + DAY_MS), 1));
  }
  return { busy: busyPeriods(busy), requests, requestsPerSecond: (atMs) => rates.get(dayOf(atMs)) ?? 0 };
};
