import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { copiesPerInstance, instancesFor } from '../../../../shared/deployments/instances.ts';
import { type ScheduleWindow, windowTimes } from '../../../../shared/deployments/schedule.ts';
import { predictStart, type StartTime, windowLeadMs } from '../../../../shared/deployments/start-times.ts';
import { wholeSecond } from '../../../../shared/gpu-time/intervals.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { DeploymentDayStore } from '../../../../shared/usage/deployment-day-store.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import type { GpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import type { DeploymentReads } from '../find-deployment.ts';
import { wantedGeneration } from '../rollout.ts';
import type { Settings } from './candidates.ts';
import { demandOf } from './demand.ts';
import { cyclesOf, type Period } from './history.ts';
import type { OptionBasis } from './options.ts';
import type { LeastCopies, LeastWindow } from './replayed-cost.ts';
import { useOf } from './use.ts';

export interface BasisDependencies extends DeploymentReads {
  gpuEvents: GpuEventStore;
  deploymentDays: DeploymentDayStore;
}

const isIn =
  ({ fromMs, toMs }: Period) =>
  ({ started_at }: GpuEvent): boolean =>
    started_at >= fromMs && started_at < toMs;

/** The windows of a schedule, each from when the deployment starts for it. */
export const windowsOf = (schedule: readonly ScheduleWindow[], { fromMs, toMs }: Period, leadMs: number): LeastWindow[] =>
  windowTimes(schedule, fromMs - DAY_MS, toMs).map(({ startMs, endMs, minCopies: copies }) => ({
    fromMs: startMs - leadMs,
    toMs: endMs,
    copies,
  }));

/** The known past of a deployment, with which settings are replayed. */
export interface AdviceBasis extends OptionBasis {
  present: Settings;
  /** The GPU time that was metered in the range. */
  events: GpuEvent[];
  /** The most requests that were in flight on average over a day's seconds in use; null: it is not known. */
  inFlight: number | null;
  /** How long it is expected to start. */
  start: StartTime;
  /** Copies that fit on one of its instances. */
  perInstance: number;
}

/**
 * Reads the events and the seconds in use of some days, and of the one before, which says how they began. The day after
 * them has the starts of requests that came shortly before midnight.
 * @throws 404 for an instance type that is no longer in the catalogue
 */
export const readBasis = async (deps: BasisDependencies, deployment: Deployment, range: Period): Promise<AdviceBasis> => {
  const { id, starts, copies, scale_to_zero_after_seconds: idleSeconds, schedule = [] } = deployment;
  const { number: generation, accelerators, instance_types } = wantedGeneration(deployment);
  const [preferred = ''] = instance_types;
  const firstDay = dayOf(range.fromMs - DAY_MS);
  const lastDay = dayOf(range.toMs);
  const [events, days, type, ofType] = await Promise.all([
    Array.fromAsync(deps.gpuEvents.listByDeployment(id, firstDay, lastDay)),
    deps.deploymentDays.read(id, firstDay, lastDay),
    deps.catalogue.instanceTypes.get(preferred),
    deps.startTimes.secondsOf(preferred),
  ]);
  if (!type) throw new ResourceNotFound('instance type', preferred);
  const types = [...new Set([preferred, ...events.map(({ instance_type }) => instance_type)])];
  const prices = new Map(await Promise.all(types.map(async (each) => [each, await deps.catalogue.prices(each)] as const)));
  const { busy, requests, inFlight, requestsPerSecond } = useOf(days, range);
  const cycles = cyclesOf(events);
  const start = predictStart(starts, ofType);
  // Replays count whole seconds.
  const leadMs = wholeSecond(windowLeadMs(start));
  const perInstance = copiesPerInstance(type, accelerators);
  const present: Settings = { idleSeconds, schedule, minCopies: copies.min };
  const least: LeastCopies = { copies, windows: windowsOf(schedule, range, leadMs) };
  const { windows } = least;
  return {
    basis: {
      range,
      cycles,
      demand: demandOf(busy, cycles, windows),
      windows,
      ...(idleSeconds !== null && { idleMs: idleSeconds * SECOND_MS }),
      startMs: wholeSecond(start.p50 * SECOND_MS),
      requestsPerSecond,
    },
    charges: {
      events,
      prices,
      least,
      instances: { generation, instance_type: preferred, phase: 'serving' },
      instancesFor: (count) => instancesFor(count, perInstance),
    },
    leastCopiesOf: (settings) =>
      settings === present
        ? least
        : { copies: { ...copies, min: settings.minCopies }, windows: windowsOf(settings.schedule, range, leadMs) },
    present,
    inFlight,
    requests,
    events: events.filter(isIn(range)),
    start,
    perInstance,
  };
};
