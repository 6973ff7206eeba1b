import { createLimiterReader } from '../../../shared/admission/stores/limiter-reader.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import type { Database } from '../../../shared/database/database.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import type { GpuMeter } from '../../../shared/deployments/deployment.ts';
import { creditOf } from '../../../shared/gpu-time/credit.ts';
import { CreditChanged, toTakeCredit } from '../../../shared/gpu-time/credit-writes.ts';
import type { InstancePrices } from '../../../shared/gpu-time/intervals.ts';
import { logError, logInfo } from '../../../shared/logging/log.ts';
import type { InstancePrice } from '../../../shared/prices/instance-price.ts';
import { createGpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { type Metered, type MeterInput, meterPass, type Notice } from './meter-pass.ts';
import { toReturnCredit } from './return-credit.ts';

/** Metered time can't be written until someone corrects the row. Nothing was written. */
export class MeteringFailed extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

const MAX_CREDIT_ATTEMPTS = 4;

/**
 * Repeats a pass while requests use the credit that it takes. The last attempt takes none, so that GPU time is metered
 * even if the organization is busy.
 * @param pass one attempt, from its reads to its transaction
 */
export const repeatForCredit = async <Result>(pass: (canDraw: boolean) => Promise<Result>): Promise<Result> => {
  for (let attempt = 1; attempt < MAX_CREDIT_ATTEMPTS; attempt++) {
    try {
      return await pass(true);
    } catch (error) {
      if (!(error instanceof CreditChanged)) throw error;
    }
  }
  return pass(false);
};

const UNPRICED = 'Instances ran for which no price was in force, so they were not charged. Add a price of their type.';

const log = ({ message, facts }: Notice): void =>
  message === 'gpu_time_unpriced' ? logError(message, new Error(UNPRICED), facts) : logInfo(message, facts);

export interface MeterReading extends Pick<Metered, 'stop' | 'warning'> {
  /** The row's new meter; the same object if nothing has changed. */
  meter: GpuMeter | undefined;
  /**
   * At most 88, for one transaction with the row, whose write must come first: it is the lock. Empty if the meter is
   * the same.
   */
  writes: readonly Write[];
}

interface GpuTimeDependencies {
  database: Database;
  usageTable: string;
  keysTable: string;
  /** The price versions of an instance type. */
  pricesOf: (instanceType: string) => Promise<readonly InstancePrice[]>;
}

/** Meters GPU time: reads prices and credit, and returns the writes of the pass. The rules are in `meter-pass.ts`. */
export const createMeterPass = ({ database, usageTable, keysTable, pricesOf }: GpuTimeDependencies) => {
  const limiters = createLimiterReader(database, keysTable);
  const events = createGpuEventStore(database, usageTable);

  const readPrices = async (types: ReadonlySet<string>): Promise<InstancePrices> =>
    new Map(await Promise.all([...types].map(async (type) => [type, await pricesOf(type)] as const)));

  const toWrites = (organization: string, { events: added, draws, returnedNanos }: Metered): Write[] => [
    ...events
      .toAdd(added)
      .map(({ item, refused }): Write => ({ item, ...(refused && { refused: (existing) => new MeteringFailed(refused(existing)) }) })),
    ...toTakeCredit(keysTable, draws),
    ...(returnedNanos > 0n
      ? [
          {
            item: toReturnCredit(keysTable, organization, returnedNanos),
            refused: () =>
              new MeteringFailed(new Error(`${organization} has no credit to which ${returnedNanos} nano-dollars could be returned.`)),
          },
        ]
      : []),
  ];

  /**
   * @param running the instances that run now, as AWS describes them
   * @param canDraw see `repeatForCredit`
   */
  return async ({
    deployment,
    running,
    nowMs,
    isStarting = false,
    canDraw = true,
  }: Omit<MeterInput, 'prices' | 'credit'>): Promise<MeterReading> => {
    const { organization, meter: before } = deployment;
    const types = new Set([...running, ...(before?.running ?? [])].map(({ instance_type }) => instance_type));
    if (types.size === 0 && (isStarting || !before?.held_nanos)) return { meter: before, writes: [] };
    const [prices, shards] = await Promise.all([readPrices(types), readAllShards(limiters, organization)]);
    const { meter, stop, warning, notices, ...added } = meterPass({
      deployment,
      running,
      nowMs,
      prices,
      credit: creditOf(shards),
      isStarting,
      canDraw,
    });
    for (const notice of notices) log(notice);
    const writes = toWrites(organization, { meter, notices, ...added });
    return { meter, writes, ...(stop && { stop }), ...(warning && { warning }) };
  };
};

export type MeterPass = ReturnType<typeof createMeterPass>;
