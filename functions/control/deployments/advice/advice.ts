import * as z from 'zod';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { copiesPerInstance, instancesFor } from '../../../../shared/deployments/instances.ts';
import { windowTimes } from '../../../../shared/deployments/schedule.ts';
import { predictStart, windowLeadMs } from '../../../../shared/deployments/start-times.ts';
import { wholeSecond } from '../../../../shared/gpu-time/intervals.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { dayOf } from '../../../../shared/usage/bucket.ts';
import type { DeploymentDayStore } from '../../../../shared/usage/deployment-day-store.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import type { GpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import type { Actor } from '../../access/actor.ts';
import { type DeploymentReads, visibleDeployment } from '../find-deployment.ts';
import { wantedGeneration } from '../rollout.ts';
import { demandOf } from './demand.ts';
import { cyclesOf, type Period } from './history.ts';
import { frontierOf, type Option, type OptionBasis, optionsOf } from './options.ts';
import { suggest } from './suggestion.ts';
import { useOf } from './use.ts';

const MAX_DAYS = 30;
const DEFAULT_DAYS = 14;

export const AdviceQuery = z.strictObject({
  days: z.coerce.number().pipe(z.int().min(1).max(MAX_DAYS)).default(DEFAULT_DAYS).meta({
    description: 'How many whole UTC days before today to replay. The days before the deployment’s creation don’t count.',
  }),
});
export type AdviceQuery = z.output<typeof AdviceQuery>;

const Seconds = z.number();
const Money = z.string().meta({ description: 'Dollars: an exact decimal number.', examples: ['12.34'] });

const AdviceOption = z.object({
  scale_to_zero_after_seconds: z.int().nullable(),
  instance_seconds: z.int(),
  cost: Money,
  cold_starts: z.int().meta({ description: 'Starts that a request waited for.' }),
  waiting_requests: z
    .int()
    .meta({ description: 'Requests that waited for a start. Those that were told to come back count as if they had waited.' }),
  wait_p50_seconds: Seconds.meta({ description: 'The wait for a start that half of all requests did not exceed.' }),
  wait_p95_seconds: Seconds,
});

export const Advice = z.object({
  object: z.literal('deployment.advice'),
  deployment: z.string(),
  from: z.int().meta({ description: 'The start of what was replayed (Unix seconds), inclusive.' }),
  to: z.int().meta({ description: 'The end, exclusive: the last midnight UTC.' }),
  requests: z.int(),
  metered: z.object({ instance_seconds: z.int(), cost: Money }).meta({ description: 'What was metered in this time.' }),
  present: AdviceOption.nullable().meta({
    description: 'The replay of the present settings. It equals `metered` if they applied all the time. Null: there is no whole day yet.',
  }),
  options: z.array(AdviceOption).meta({
    description: 'The idle times of which none is better than another in both cost and waiting time, cheapest first.',
  }),
  suggestion: z
    .object({
      sentence: z.string().meta({
        examples: [
          'Sleep after 15 minutes without a request, rather than after 40 minutes: that saves $412.00 a month and causes 31 more cold starts; the p95 wait grows by 0.2 s.',
        ],
      }),
      saved_per_month: Money.meta({ description: 'In 30 days; negative: it costs more.' }),
      cold_starts_per_month: z.int(),
      wait_p95_seconds: Seconds.meta({ description: 'By how much the p95 wait grows.' }),
      apply: z
        .object({
          method: z.literal('PATCH'),
          path: z.string(),
          body: z.object({ scale_to_zero_after_seconds: z.int().nullable() }),
        })
        .meta({ description: 'The request that makes the change.' }),
    })
    .nullable()
    .meta({ description: 'Null: the present settings are as good as any that were replayed.' }),
});
export type Advice = z.infer<typeof Advice>;

export interface AdviceDependencies extends DeploymentReads {
  gpuEvents: GpuEventStore;
  deploymentDays: DeploymentDayStore;
}

const resourceOf = ({ idleSeconds, instanceSeconds, costNanos, coldStarts, waitingRequests, waitP50Ms, waitP95Ms }: Option) => ({
  scale_to_zero_after_seconds: idleSeconds,
  instance_seconds: Number(instanceSeconds),
  cost: dollarsOf(costNanos),
  cold_starts: coldStarts,
  waiting_requests: waitingRequests,
  wait_p50_seconds: waitP50Ms / SECOND_MS,
  wait_p95_seconds: waitP95Ms / SECOND_MS,
});

// Whole UTC days, so that everything in them is metered.
const rangeOf = ({ created_at }: Deployment, days: number, nowMs: number): Period => {
  const toMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { fromMs: Math.min(toMs, Math.max(toMs - days * DAY_MS, Math.floor(created_at / DAY_MS) * DAY_MS)), toMs };
};

const isIn =
  ({ fromMs, toMs }: Period) =>
  ({ started_at }: GpuEvent): boolean =>
    started_at >= fromMs && started_at < toMs;

const meteredIn = (events: readonly GpuEvent[]) => ({
  instance_seconds: Number(events.reduce((sum, { seconds, instances }) => sum + BigInt(seconds) * BigInt(instances), 0n)),
  cost: dollarsOf(events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n)),
});

const windowsOf = ({ schedule = [] }: Deployment, { fromMs, toMs }: Period, leadMs: number): Period[] =>
  windowTimes(schedule, fromMs - DAY_MS, toMs).map(({ startMs, endMs }) => ({ fromMs: startMs - leadMs, toMs: endMs }));

// The events and the seconds in use of the days, and of the one before, which says how they began. The day after them
// has the starts of requests that came shortly before midnight.
const readBasis = async (
  deps: AdviceDependencies,
  deployment: Deployment,
  range: Period,
): Promise<OptionBasis & { events: GpuEvent[] }> => {
  const { id, starts, copies, scale_to_zero_after_seconds: idleSeconds } = deployment;
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
  const { busy, requests, requestsPerSecond } = useOf(days, range);
  const cycles = cyclesOf(events);
  const start = predictStart(starts, ofType);
  // Replays count whole seconds.
  const leadMs = wholeSecond(windowLeadMs(start));
  const windows = windowsOf(deployment, range, leadMs);
  const instances = instancesFor(copies.min, copiesPerInstance(type, accelerators));
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
    charges: { events, prices, instances: { generation, instance_type: preferred, instances, phase: 'serving' } },
    requests,
    events: events.filter(isIn(range)),
  };
};

/**
 * Replays the last days of a deployment with other idle times, and suggests one of them. Reads at most 31 days of its
 * records. @throws 404
 */
export const adviceFor = async (deps: AdviceDependencies, actor: Actor, id: string, { days }: AdviceQuery): Promise<Advice> => {
  const deployment = await visibleDeployment(deps, actor, id);
  const { scale_to_zero_after_seconds: presentSeconds } = deployment;
  const range = rangeOf(deployment, days, actor.origin.nowMs);
  const read = await readBasis(deps, deployment, range);
  const isEmpty = range.toMs === range.fromMs;
  const options = isEmpty ? [] : optionsOf(read, presentSeconds);
  const present = options.find(({ idleSeconds }) => idleSeconds === presentSeconds);
  const suggestion = present && suggest(present, options, { requests: read.requests, range });
  return {
    object: 'deployment.advice',
    deployment: id,
    from: range.fromMs / SECOND_MS,
    to: range.toMs / SECOND_MS,
    requests: read.requests,
    metered: meteredIn(read.events),
    present: present ? resourceOf(present) : null,
    options: frontierOf(options).map(resourceOf),
    suggestion: suggestion
      ? {
          sentence: suggestion.sentence,
          saved_per_month: dollarsOf(suggestion.savedNanos),
          cold_starts_per_month: suggestion.coldStarts,
          wait_p95_seconds: suggestion.waitP95Ms / SECOND_MS,
          apply: { method: 'PATCH', path: `/v1/deployments/${id}`, body: { scale_to_zero_after_seconds: suggestion.idleSeconds } },
        }
      : null,
  };
};
