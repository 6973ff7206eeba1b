import { createLimiterReader } from '../admission/stores/limiter-reader.ts';
import { readAllShards } from '../admission/stores/reservation.ts';
import type { Database } from '../database/database.ts';
import type { Write } from '../database/transaction.ts';
import type { InstanceType } from '../deployments/catalogue.ts';
import type { CatalogueStore } from '../deployments/catalogue-store.ts';
import { type Deployment, type Generation, type GpuMeter, isActive, type RunningInstances } from '../deployments/deployment.ts';
import { copiesPerInstance, instancesFor } from '../deployments/instances.ts';
import { Conflict } from '../http/errors.ts';
import { dollarsOf } from '../prices/dollars.ts';
import { availableOf, creditOf, larger, planDraw } from './credit.ts';
import { toTakeCredit } from './credit-writes.ts';
import { costOf, STEP_MS, wholeSecond } from './intervals.ts';

/** The organization's credit does not pay for the first interval of the minimum copies: 409. */
export class OutOfCredit extends Conflict {
  constructor(name: string, { neededNanos, availableNanos }: { neededNanos: bigint; availableNanos: bigint }) {
    super({
      code: 'out_of_credit',
      message: `'${name}' needs ${dollarsOf(neededNanos)} of credit in your billing currency to run its minimum copies for ${STEP_MS / 60_000} minutes, and your organization has ${dollarsOf(availableNanos)} left. Add credit, or choose fewer copies or cheaper instance types.`,
    });
  }
}

/** A start's changes, with the deployment's state in one transaction: the credit, and the meter that then holds it. */
export interface StartCredit {
  /** Absent: as it was. */
  meter?: GpuMeter;
  /** Empty: nothing is held, because the organization pays by invoice, or enough is held already. */
  writes: readonly Write[];
}

/** Holds credit for a start. @throws OutOfCredit */
export type HoldStartCredit = (deployment: Deployment, nowMs: number) => Promise<StartCredit>;

// On the most expensive instance type of the generation, for its least number of copies.
const firstIntervalNanos = (
  { number: generation, accelerators }: Generation,
  { min }: Deployment['copies'],
  types: readonly InstanceType[],
  nowMs: number,
): bigint => {
  const prices = new Map(types.map((type) => [type.id, type.prices]));
  const costs = types.map((type) => {
    const instances = instancesFor(min, copiesPerInstance(type, accelerators));
    const running: RunningInstances = { generation, instance_type: type.id, instances, phase: 'starting' };
    return costOf([running], prices, wholeSecond(nowMs), wholeSecond(nowMs) + STEP_MS);
  });
  return costs.reduce(larger, 0n);
};

/**
 * Holds the credit that a deployment needs before it may start: for the first interval of the minimum copies of each
 * generation that is to run, less what it holds already. Metering pays from it. Other uses of the credit between the
 * read and the transaction are `CreditChanged`.
 */
export const createHoldStartCredit = (
  database: Database,
  keysTable: string,
  { instanceTypes }: Pick<CatalogueStore, 'instanceTypes'>,
): HoldStartCredit => {
  const limiters = createLimiterReader(database, keysTable);

  const neededBy = async ({ generations, copies }: Deployment, nowMs: number): Promise<bigint> => {
    const costs = generations.filter(isActive).map(async (generation) => {
      const types = await Promise.all(generation.instance_types.map((id) => instanceTypes.get(id)));
      return firstIntervalNanos(
        generation,
        copies,
        types.filter((type) => type !== undefined),
        nowMs,
      );
    });
    return (await Promise.all(costs)).reduce((sum, cost) => sum + cost, 0n);
  };

  return async (deployment, nowMs) => {
    const { organization, name, meter = { until: wholeSecond(nowMs), running: [], held_nanos: 0n } } = deployment;
    const credit = creditOf(await readAllShards(limiters, organization));
    if (!credit.isPrepaid) return { writes: [] };
    const missing = (await neededBy(deployment, nowMs)) - meter.held_nanos;
    if (missing <= 0n) return { writes: [] };
    const draws = planDraw(credit, missing);
    const drawn = draws.reduce((sum, { nanos }) => sum + nanos, 0n);
    if (drawn < missing) throw new OutOfCredit(name, { neededNanos: missing, availableNanos: availableOf(credit) });
    return { meter: { ...meter, held_nanos: meter.held_nanos + missing }, writes: toTakeCredit(keysTable, draws) };
  };
};
