import type { CatalogueStore } from '../deployments/catalogue-store.ts';
import { type Deployment, isActive } from '../deployments/deployment.ts';
import { copiesPerInstance, instancesFor } from '../deployments/instances.ts';
import { instancePriceAt } from '../prices/instance-price.ts';
import { HOUR_MS } from '../time/units.ts';
import { larger } from './credit.ts';

/** The price of a deployment's instances, in nano-dollars an hour. */
export interface HourRate {
  /** Those that run now. */
  presentNanos: bigint;
  /** The most instances that it can have, of its most expensive type. */
  mostNanos: bigint;
}

/** Reads the prices of a deployment's instances, by which its GPU time is charged. */
export const hourRateOf = async (
  { instanceTypes, prices }: Pick<CatalogueStore, 'prices' | 'instanceTypes'>,
  { copies, generations, meter }: Deployment,
  nowMs: number,
): Promise<HourRate> => {
  const nanosOf = async (type: string): Promise<bigint> => BigInt(instancePriceAt(await prices(type), nowMs)?.hour_nanos ?? 0);
  const running = await Promise.all(
    (meter?.running ?? []).map(async ({ instance_type, instances }) => (await nanosOf(instance_type)) * BigInt(instances)),
  );
  const presentNanos = running.reduce((sum, nanos) => sum + nanos, 0n);
  const possible = generations.filter(isActive).flatMap(({ instance_types, accelerators }) =>
    instance_types.map(async (type) => {
      const perInstance = copiesPerInstance((await instanceTypes.get(type)) ?? { accelerators }, accelerators);
      return (await nanosOf(type)) * BigInt(instancesFor(copies.max, Math.max(1, perInstance)));
    }),
  );
  const mostNanos = (await Promise.all(possible)).reduce(larger, presentNanos);
  return { presentNanos, mostNanos };
};

/** The cost of a time at a rate, in nano-dollars, rounded up. */
export const costOfTime = (hourNanos: bigint, ms: number): bigint => {
  const hour = BigInt(HOUR_MS);
  return (hourNanos * BigInt(Math.ceil(ms)) + hour - 1n) / hour;
};
