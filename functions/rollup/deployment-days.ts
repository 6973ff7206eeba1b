import { deploymentIdOf } from '../../shared/deployments/names.ts';
import { dayOf } from '../../shared/time/utc.ts';
import { type BusySeconds, createBusySeconds } from '../../shared/usage/busy-seconds.ts';
import type { DeploymentUsage } from '../../shared/usage/deployment-day-store.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import type { OrganizationTotals } from '../../shared/usage/organization-totals.ts';
import { mergeTotals } from '../../shared/usage/totals.ts';

/** The seconds of an hour in which a deployment answered requests. */
export interface BusyHour {
  deployment: string;
  hourMs: number;
  bits: Uint8Array;
}

/** Collects the seconds in which each deployment answered requests. */
export const createBusyDeployments = () => {
  const seconds = new Map<string, BusySeconds>();
  const add = ({ endpoint, admitted_at, duration_ms, rerate }: UsageEvent): void => {
    const deployment = endpoint === undefined || rerate ? undefined : deploymentIdOf(endpoint);
    if (deployment === undefined) return;
    const busy = seconds.get(deployment) ?? createBusySeconds();
    seconds.set(deployment, busy);
    busy.add(admitted_at, duration_ms);
  };
  return {
    add,
    /** Passes the events through. */
    observe: async function* (events: AsyncIterable<UsageEvent>): AsyncGenerator<UsageEvent> {
      for await (const event of events) {
        add(event);
        yield event;
      }
    },
    hours: (): BusyHour[] =>
      [...seconds].flatMap(([deployment, busy]) => [...busy.hours()].map(([hourMs, bits]) => ({ deployment, hourMs, bits }))),
  };
};

/** The sums of an organization's day for each deployment that answered its requests. */
export const deploymentUsageOf = (ofDay: readonly OrganizationTotals[]): DeploymentUsage[] => {
  const sums = new Map<string, DeploymentUsage & Pick<OrganizationTotals, 'totals'>>();
  for (const { organization, startMs, deployment, totals } of ofDay) {
    if (deployment === null) continue;
    const sum = sums.get(deployment);
    const of = { deployment, day: dayOf(startMs), organization };
    sums.set(deployment, { ...of, totals: sum ? mergeTotals(sum.totals, totals) : totals });
  }
  return [...sums.values()];
};
