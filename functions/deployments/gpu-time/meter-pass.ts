import { isDeepStrictEqual } from 'node:util';
import type { Deployment, GpuMeter, RunningInstances } from '../../../shared/deployments/deployment.ts';
import { availableOf, type Credit, type Draw } from '../../../shared/gpu-time/credit.ts';
import {
  costOf,
  endWithin,
  type InstancePrices,
  intervalsOf,
  STEP_MS,
  secondsOf,
  wholeSecond,
} from '../../../shared/gpu-time/intervals.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { type GpuEvent, gpuEventId } from '../../../shared/usage/gpu-event.ts';
import { type Charge, chargeOnly, payFromCredit } from './pay-from-credit.ts';

// The reconciler observes each deployment at least this often.
const POLL_MS = MINUTE_MS;
// The owner is warned when the credit lasts for less than this, at most once in `WARN_EVERY_MS`.
const WARN_BEFORE_MS = 60 * MINUTE_MS;
const WARN_EVERY_MS = 24 * 60 * MINUTE_MS;
/** A pass meters at most this many intervals, so that they fit its transaction. The next pass continues from there. */
export const MAX_EVENTS = 24;

/** The inputs of a metering pass. */
export interface MeterInput {
  deployment: Pick<Deployment, 'id' | 'organization' | 'name' | 'meter'>;
  /** The running instances, as AWS describes them. */
  running: readonly RunningInstances[];
  nowMs: number;
  /** Prices of all instance types that run now or ran in the last pass. */
  prices: InstancePrices;
  /** Credit of the deployment's organization. */
  credit: Credit;
  /** True if more instances are to start, for which held credit is kept. Default: false. */
  isStarting?: boolean;
  /** True if this pass can take credit. Default: true. */
  canDraw?: boolean;
}

/** A line for the log. */
export interface Notice {
  message: 'credit_low' | 'gpu_time_unpaid' | 'gpu_time_unpriced';
  facts: Record<string, unknown>;
}

/** The changes of a pass: all of them or none, in a transaction with the lock of the deployment's row. */
export interface Metered {
  /** The row's new meter; the same object if nothing has changed. */
  meter: GpuMeter | undefined;
  events: GpuEvent[];
  draws: Draw[];
  returnedNanos: bigint;
  /** The deployment must be stopped. */
  stop?: 'out_of_credit';
  /** Its owner must add credit, or the deployment will be stopped within an hour. */
  warning?: 'credit_low';
  notices: Notice[];
}

const keyOf = ({ generation, instance_type, phase }: RunningInstances): string =>
  `${String(generation).padStart(6, '0')}#${instance_type}#${phase}`;

// AWS lists instances in any order.
const inOrder = (seen: readonly RunningInstances[]): RunningInstances[] => {
  const byKey = new Map<string, RunningInstances>();
  for (const running of seen) {
    const { generation, instance_type, phase } = running;
    const instances = running.instances + (byKey.get(keyOf(running))?.instances ?? 0);
    byKey.set(keyOf(running), { generation, instance_type, instances, phase });
  }
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, running]) => running);
};

const toEvent = ({ id, organization, name }: MeterInput['deployment'], charge: Charge): GpuEvent => {
  const { running, startMs, endMs, price, costNanos, chargedNanos, isPrepaid } = charge;
  const of = { deployment_id: id, ...running, started_at: startMs };
  return {
    ...of,
    id: gpuEventId(of),
    org_id: organization,
    name,
    ended_at: endMs,
    seconds: secondsOf(charge),
    cost_nanos: chargedNanos,
    price_version: price?.version ?? null,
    ...(isPrepaid && { is_prepaid: true as const }),
    ...(chargedNanos < costNanos && { is_capped: true as const }),
  };
};

const noticesOf = (charges: readonly Charge[], facts: Record<string, unknown>): Notice[] => {
  const unpaid = charges.reduce((sum, { costNanos, chargedNanos }) => sum + costNanos - chargedNanos, 0n);
  const unpriced = charges.filter(({ price }) => !price);
  return [
    ...(unpaid > 0n ? [{ message: 'gpu_time_unpaid' as const, facts: { ...facts, unpaid_nanos: unpaid } }] : []),
    ...unpriced.map((charge) => ({
      message: 'gpu_time_unpriced' as const,
      facts: { ...facts, instance_type: charge.running.instance_type, seconds: secondsOf(charge) },
    })),
  ];
};

// `availableNanos` doesn't include the held credit.
const judgeCredit = (metered: Metered, availableNanos: bigint, { deployment, prices, credit, nowMs }: MeterInput, now: number): Metered => {
  const { meter } = metered;
  if (!meter || !credit.isPrepaid) return metered;
  const left = meter.held_nanos + availableNanos;
  const lastsFor = (ms: number): boolean => left >= costOf(meter.running, prices, meter.until, now + ms);
  if (!lastsFor(POLL_MS)) return { ...metered, stop: 'out_of_credit' };
  if (lastsFor(WARN_BEFORE_MS)) return metered;
  if (meter.warned_at !== undefined && nowMs - meter.warned_at < WARN_EVERY_MS) return { ...metered, warning: 'credit_low' };
  const facts = { deployment: deployment.id, organization: deployment.organization, left_nanos: left };
  return {
    ...metered,
    meter: { ...meter, warned_at: nowMs },
    warning: 'credit_low',
    notices: [...metered.notices, { message: 'credit_low', facts }],
  };
};

/**
 * Meters a deployment's GPU time: the instances observed by the last pass are charged until this one. An interval stays
 * open for up to 15 minutes while nothing changes, so that events stay few. If its organization pays from prepaid
 * credit, the cost of the next 15 minutes is held each time an interval is closed. Pure: `gpu-time.ts` reads the inputs
 * and makes the writes.
 */
export const meterPass = (input: MeterInput): Metered => {
  const { deployment, nowMs, prices, credit, isStarting = false, canDraw = true } = input;
  const seen = inOrder(input.running);
  const before: GpuMeter = deployment.meter ?? { until: wholeSecond(nowMs), running: [], held_nanos: 0n };
  // The clock of the last pass can be ahead.
  const now = Math.max(wholeSecond(nowMs), before.until);

  const isShort = credit.isPrepaid && before.held_nanos < costOf(before.running, prices, before.until, now + POLL_MS);
  const isDue = before.running.length > 0 && now - before.until > STEP_MS - POLL_MS;
  const isIdle = before.running.length === 0 && before.held_nanos > 0n && !isStarting;
  if (!isShort && !isDue && !isIdle && isDeepStrictEqual(seen, before.running)) {
    const open = { meter: deployment.meter, events: [], draws: [], returnedNanos: 0n, notices: [] };
    return judgeCredit(open, availableOf(credit), input, now);
  }
  const end = endWithin(before.running, prices, before.until, now, MAX_EVENTS);
  const running = end === now ? seen : before.running;
  const intervals = intervalsOf(before.running, prices, before.until, end);
  const { charges, heldNanos, draws, returnedNanos, availableNanos } = credit.isPrepaid
    ? payFromCredit(intervals, {
        heldNanos: before.held_nanos,
        nextStepNanos: costOf(running, prices, end, now + STEP_MS),
        credit,
        keepsRest: isStarting,
        canDraw,
      })
    : chargeOnly(intervals, before.held_nanos);
  const closed: Metered = {
    meter: { ...before, until: end, running, held_nanos: heldNanos },
    events: charges.map((charge) => toEvent(deployment, charge)),
    draws,
    returnedNanos,
    notices: noticesOf(charges, { deployment: deployment.id, organization: deployment.organization }),
  };
  return judgeCredit(closed, availableNanos, input, now);
};
