import type { RunningInstances } from '../deployments/deployment.ts';
import { gpuCostNanos, type InstancePrice, instancePriceAt } from '../prices/instance-price.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../time/units.ts';

/** The price versions of each instance type. */
export type InstancePrices = ReadonlyMap<string, readonly InstancePrice[]>;

/**
 * A time in which the same instances run at the same price, within a UTC day. Times are whole seconds, in ms; the end
 * is exclusive.
 */
export interface PricedInterval {
  running: RunningInstances;
  startMs: number;
  endMs: number;
  /** Absent: no price is in force. */
  price?: InstancePrice;
  costNanos: bigint;
}

/** An interval is closed at least this often, and credit is held for so long. */
export const STEP_MS = 15 * MINUTE_MS;

export const secondsOf = ({ startMs, endMs }: Pick<PricedInterval, 'startMs' | 'endMs'>): number => (endMs - startMs) / SECOND_MS;

/** The last whole second. */
export const wholeSecond = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;

// A second has the price that is in force when it begins.
const firstSecondAt = ({ effective_at }: InstancePrice): number => Math.ceil(effective_at / SECOND_MS) * SECOND_MS;

const pricesOf = ({ instance_type }: RunningInstances, prices: InstancePrices): readonly InstancePrice[] => prices.get(instance_type) ?? [];

// Changes of the price, and midnights, after `fromMs` and before `toMs`, in order.
const cutsOf = (running: RunningInstances, prices: InstancePrices, fromMs: number, toMs: number): number[] => {
  const cuts = new Set(pricesOf(running, prices).map(firstSecondAt));
  for (let midnight = (Math.floor(fromMs / DAY_MS) + 1) * DAY_MS; midnight < toMs; midnight += DAY_MS) cuts.add(midnight);
  return [...cuts].filter((ms) => ms > fromMs && ms < toMs).sort((one, other) => one - other);
};

/** Intervals of instances' cost from one whole second to another: one for each price and UTC day. */
export const intervalsOf = (running: readonly RunningInstances[], prices: InstancePrices, fromMs: number, toMs: number): PricedInterval[] =>
  running.flatMap((instances) => {
    const starts = [fromMs, ...cutsOf(instances, prices, fromMs, toMs)];
    return starts.flatMap((startMs, i): PricedInterval[] => {
      const endMs = starts[i + 1] ?? toMs;
      if (endMs <= startMs) return [];
      const price = instancePriceAt(pricesOf(instances, prices), startMs);
      const costNanos = price ? gpuCostNanos(price, secondsOf({ startMs, endMs }), instances.instances) : 0n;
      return [{ running: instances, startMs, endMs, ...(price && { price }), costNanos }];
    });
  });

export const sumNanos = (amounts: readonly { costNanos: bigint }[]): bigint => amounts.reduce((sum, { costNanos }) => sum + costNanos, 0n);

/** The nano-dollars that some instances cost from one whole second to another. */
export const costOf = (...parameters: Parameters<typeof intervalsOf>): bigint => sumNanos(intervalsOf(...parameters));

/**
 * The latest end, up to `toMs`, at which there are no more than `most` intervals: all of them, unless metering stood
 * still for days. The first cut is always reached, if no more than `most` kinds of instances run.
 */
export const endWithin = (
  running: readonly RunningInstances[],
  prices: InstancePrices,
  fromMs: number,
  toMs: number,
  most: number,
): number => {
  const cuts = running.flatMap((instances) => cutsOf(instances, prices, fromMs, toMs)).sort((one, other) => other - one);
  const fits = (endMs: number): boolean => intervalsOf(running, prices, fromMs, endMs).length <= most;
  return fits(toMs) ? toMs : (cuts.find(fits) ?? cuts.at(-1) ?? toMs);
};
