import { intervalsOf } from '../../../shared/gpu-time/intervals.ts';
import type { InstancePrice } from '../../../shared/prices/instance-price.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { BusySeconds } from '../../../shared/usage/busy-seconds.ts';
import type { GpuEvent } from '../../../shared/usage/gpu-event.ts';

/** Instances × seconds of a deployment, by what they did. Each instance-second is in exactly one of them. */
export interface InstanceSeconds {
  /** No copy was ready yet. */
  waking: bigint;
  /** At least one request was in flight. */
  busy: bigint;
  /** Ready, and no request was in flight. */
  idle: bigint;
  /** No copy was left, but the instances were not released yet. */
  draining: bigint;
}

/** The instances of a deployment in a UTC day: their time, their cost and the charges of their owner. */
export interface InstanceTime {
  seconds: InstanceSeconds;
  /** The seconds in which there was at least one instance. */
  awakeSeconds: bigint;
  /** The cost of the instance-seconds for which a cost is known. */
  costNanos: bigint;
  /** The instance-seconds for which none is. */
  uncostedSeconds: bigint;
  /** The owner's charges, with later corrections of prices. */
  chargeNanos: bigint;
}

/** The cost versions of each instance type. */
export type InstanceCosts = ReadonlyMap<string, readonly InstancePrice[]>;

type MeteredTime = Pick<GpuEvent, 'started_at' | 'ended_at'>;

// The length of the union, because generations can run at the same time.
const awakeSecondsOf = (events: readonly MeteredTime[]): bigint => {
  let untilMs = 0;
  let sumMs = 0;
  for (const { started_at, ended_at } of [...events].sort((a, b) => a.started_at - b.started_at)) {
    sumMs += Math.max(ended_at - Math.max(started_at, untilMs), 0);
    untilMs = Math.max(untilMs, ended_at);
  }
  return BigInt(sumMs / SECOND_MS);
};

const addSeconds = (sums: InstanceSeconds, { phase, instances, seconds, started_at, ended_at }: GpuEvent, busy: BusySeconds): void => {
  const all = BigInt(seconds) * BigInt(instances);
  if (phase === 'starting') sums.waking += all;
  else if (phase === 'draining') sums.draining += all;
  else {
    const ofRequests = BigInt(busy.countIn(started_at, ended_at)) * BigInt(instances);
    sums.busy += ofRequests;
    sums.idle += all - ofRequests;
  }
};

/**
 * Adds up a deployment's GPU time of a UTC day. An event is cut where a cost takes effect, and each part is rounded
 * once, half up, to the nano-dollar, as the charge is.
 * @param events all events of the day
 */
export const instanceTimeOf = (events: readonly GpuEvent[], costs: InstanceCosts, busy: BusySeconds): InstanceTime => {
  // Corrections of a price have no seconds.
  const metered = events.filter(({ rerate }) => !rerate);
  const time: InstanceTime = {
    seconds: { waking: 0n, busy: 0n, idle: 0n, draining: 0n },
    awakeSeconds: awakeSecondsOf(metered),
    costNanos: 0n,
    uncostedSeconds: 0n,
    chargeNanos: events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n),
  };
  for (const event of metered) {
    addSeconds(time.seconds, event, busy);
    for (const { costNanos, price, startMs, endMs } of intervalsOf([event], costs, event.started_at, event.ended_at)) {
      time.costNanos += costNanos;
      if (!price) time.uncostedSeconds += BigInt((endMs - startMs) / SECOND_MS) * BigInt(event.instances);
    }
  }
  return time;
};
