import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { ScheduleWindow } from '../../../../shared/deployments/schedule.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { isTimeZone } from '../../../../shared/time/zoned-time.ts';
import type { GpuEvent } from '../../../../shared/usage/gpu-event.ts';
import type { Actor } from '../../access/actor.ts';
import type { CurrencyReads } from '../../billing/currency.ts';
import { visibleDeployment } from '../find-deployment.ts';
import { type AdviceBasis, readBasis } from './advice-basis.ts';
import { candidatesOf, type Settings } from './candidates.ts';
import type { Period } from './history.ts';
import { frontierOf, type Option, optionOf } from './options.ts';
import { type OnOtherType, type OtherTypeDependencies, otherTypesFor } from './other-types.ts';
import { proposeSchedules } from './propose-schedules.ts';
import { suggest } from './suggestion.ts';

const MAX_DAYS = 30;
const DEFAULT_DAYS = 14;

export const AdviceQuery = z.strictObject({
  days: z.coerce.number().pipe(z.int().min(1).max(MAX_DAYS)).default(DEFAULT_DAYS).meta({
    description: "How many whole UTC days before today to replay. The days before the deployment's creation don't count.",
  }),
  time_zone: z
    .string()
    .refine(isTimeZone, 'expected the IANA name of a time zone, such as Europe/Berlin or UTC')
    .optional()
    .meta({ description: 'The time zone of the windows that are tried. Default: that of the present schedule, or else UTC.' }),
});
export type AdviceQuery = z.output<typeof AdviceQuery>;

const Seconds = z.number();
const Money = z.string().meta({ description: 'Dollars: an exact decimal number.', examples: ['12.34'] });

const AdviceOption = z.object({
  scale_to_zero_after_seconds: z.int().nullable(),
  schedule: z.array(ScheduleWindow),
  min_copies: z.int(),
  instance_seconds: z.int(),
  cost: Money,
  cold_starts: z.int().meta({ description: 'Starts that a request waited for.' }),
  waiting_requests: z
    .int()
    .meta({ description: 'Requests that waited for a start. Requests that got a 503 with a time to retry count as if they had waited.' }),
  wait_p50_seconds: Seconds.meta({ description: 'The wait for a start that half of all requests did not exceed.' }),
  wait_p95_seconds: Seconds,
});

const OtherType = z.object({
  instance_type: z.string(),
  benchmark: z.string().meta({ description: 'The id of the benchmark on it, of this deployment or another one of the organization.' }),
  compared_with: z.string().meta({ description: 'The id of the benchmark on the present instance type.' }),
  request_percent: z.int().meta({ description: 'How long requests take, in percent of the present time.' }),
  options: z.array(AdviceOption).meta({ description: 'As above, on this instance type. It takes a rollout, which the cost leaves out.' }),
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
    description: 'The settings of which none is better than another in both cost and waiting time, cheapest first.',
  }),
  other_instance_types: z.array(OtherType).meta({
    description:
      'Instance types on which a benchmark measured the same model, with goals and lengths like those of one on the present type, the newest first: at most three.',
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
          body: z.object({
            scale_to_zero_after_seconds: z.int().nullable().optional(),
            schedule: z.array(ScheduleWindow).optional(),
            copies: z.object({ min: z.int() }).optional(),
          }),
        })
        .meta({ description: 'The request that makes the change.' }),
    })
    .nullable()
    .meta({ description: 'Null: the present settings are as good as any that were replayed.' }),
});
export type Advice = z.infer<typeof Advice>;

export type AdviceDependencies = OtherTypeDependencies & CurrencyReads;

const resourceOf = (option: Option) => ({
  scale_to_zero_after_seconds: option.idleSeconds,
  schedule: [...option.schedule],
  min_copies: option.minCopies,
  instance_seconds: Number(option.instanceSeconds),
  cost: dollarsOf(option.costNanos),
  cold_starts: option.coldStarts,
  waiting_requests: option.waitingRequests,
  wait_p50_seconds: option.waitP50Ms / SECOND_MS,
  wait_p95_seconds: option.waitP95Ms / SECOND_MS,
});

// The body of a PATCH: only the settings that differ.
const changesOf = (before: Settings, { idleSeconds, schedule, minCopies }: Settings) => ({
  ...(idleSeconds !== before.idleSeconds && { scale_to_zero_after_seconds: idleSeconds }),
  ...(!isDeepStrictEqual(schedule, before.schedule) && { schedule: [...schedule] }),
  ...(minCopies !== before.minCopies && { copies: { min: minCopies } }),
});

// Whole UTC days, so that everything in them is metered.
const rangeOf = ({ created_at }: Deployment, days: number, nowMs: number): Period => {
  const toMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { fromMs: Math.min(toMs, Math.max(toMs - days * DAY_MS, Math.floor(created_at / DAY_MS) * DAY_MS)), toMs };
};

const meteredIn = (events: readonly GpuEvent[]) => ({
  instance_seconds: Number(events.reduce((sum, { seconds, instances }) => sum + BigInt(seconds) * BigInt(instances), 0n)),
  cost: dollarsOf(events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n)),
});

const zoneOf = ({ schedule: [window] = [] }: Deployment, { time_zone }: AdviceQuery): string => time_zone ?? window?.time_zone ?? 'UTC';

const replayAll = (read: AdviceBasis, schedules: readonly ScheduleWindow[][], perCopy: number): Option[] =>
  candidatesOf(read.present, schedules, { inFlight: read.inFlight, perCopy }).map((settings) => optionOf(read, settings));

const PERCENT = 100;

const otherTypeOf = (
  { instanceType, curve, own, comparison: { after, beforeMs, afterMs }, read }: OnOtherType,
  schedules: readonly ScheduleWindow[][],
): z.infer<typeof OtherType> => ({
  instance_type: instanceType,
  benchmark: curve.id,
  compared_with: own.id,
  request_percent: Math.round((afterMs * PERCENT) / beforeMs),
  options: frontierOf(replayAll(read, schedules, after)).map(resourceOf),
});

/**
 * Replays the last days of a deployment with other settings, also on other instance types that were measured, and
 * suggests some of them. Reads at most 32 days of its records. @throws 404
 */
export const adviceFor = async (deps: AdviceDependencies, actor: Actor, id: string, query: AdviceQuery): Promise<Advice> => {
  const deployment = await visibleDeployment(deps, actor, id);
  const range = rangeOf(deployment, query.days, actor.origin.nowMs);
  const read = await readBasis(deps, deployment, range);
  const { requests } = read;
  const isEmpty = range.toMs === range.fromMs;
  const schedules = isEmpty ? [] : proposeSchedules(read.basis.demand, range, zoneOf(deployment, query));
  const options = isEmpty ? [] : replayAll(read, schedules, deployment.max_concurrency_per_copy);
  const others = isEmpty ? [] : await otherTypesFor(deps, deployment, read);
  const [present] = options;
  const suggestion = present && suggest(present, options, { requests, range, symbol: (await deps.currency()).symbol });
  return {
    object: 'deployment.advice',
    deployment: id,
    from: range.fromMs / SECOND_MS,
    to: range.toMs / SECOND_MS,
    requests,
    metered: meteredIn(read.events),
    present: present ? resourceOf(present) : null,
    options: frontierOf(options).map(resourceOf),
    other_instance_types: others.map((other) => otherTypeOf(other, schedules)),
    suggestion: suggestion
      ? {
          sentence: suggestion.sentence,
          saved_per_month: dollarsOf(suggestion.savedNanos),
          cold_starts_per_month: suggestion.coldStarts,
          wait_p95_seconds: suggestion.waitP95Ms / SECOND_MS,
          apply: { method: 'PATCH', path: `/v1/deployments/${id}`, body: changesOf(read.present, suggestion.settings) },
        }
      : null,
  };
};
