import { availableNanosOf } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf } from '../../../shared/admission/item/shards.ts';
import type { LimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { readAllShards } from '../../../shared/admission/stores/reservation.ts';
import { remainingOfGrants } from '../../../shared/credit/credit-consumption.ts';
import type { CreditStore } from '../../../shared/credit/credit-store.ts';
import { NoCredit } from '../../../shared/credit/grant-credit.ts';
import { heldForDeployments, heldForRequests } from '../../../shared/credit/held-credit.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import type { DeploymentStore } from '../../../shared/deployments/deployment-store.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { RollupStore } from '../../../shared/usage/rollup-store.ts';

export interface BalanceDependencies {
  limiters: LimiterStore;
  credit: CreditStore;
  rollups: RollupStore;
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
  deployments: Pick<DeploymentStore, 'list'>;
}

/** An organization's credit, in nano-dollars. */
export interface Balance {
  organization: string;
  grants: number;
  granted: bigint;
  /** The cost of the usage events of all its keys, from the daily totals, and of the GPU time of its deployments. */
  spent: bigint;
  /** Reserved for requests in flight, and for the next minutes of its deployments. */
  held: bigint;
  available: bigint;
  /**
   * granted − spent − held − available: 0, unless requests were settled during the read or totals are not up to date.
   */
  drift: bigint;
  /**
   * The grants that are not used up, and the rest of each, before the held amount. It follows from the ledger and the
   * totals of each day, as when a grant expires.
   */
  left: readonly { grant: number; amount: bigint }[];
}

const MAX_PARALLEL = 16;
/** The days before and after all usage. */
export const FIRST_DAY = '2020-01-01';
export const LAST_DAY = '9999-12-31';

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** Computes an organization's balance and its drift. @throws NoCredit */
export const balanceOf = async (
  { limiters, credit, rollups, gpuEvents, deployments }: BalanceDependencies,
  organization: string,
): Promise<Balance> => {
  const shards = await readAllShards(limiters, organization);
  if (shards.length === 0) throw new NoCredit(organization);
  const grants = await Array.fromAsync(credit.list(organization));
  const keys = new Set<string>();
  for await (const id of limiters.listByOrganization(organization)) if (ownerIdOf(id) !== organization) keys.add(ownerIdOf(id));
  const costs = new Map<string, bigint>();
  const count = (day: string, nanos: bigint): void => void costs.set(day, (costs.get(day) ?? 0n) + nanos);
  const add = async (key: string): Promise<void> => {
    for await (const { day, totals } of rollups.listDays(key, FIRST_DAY, LAST_DAY)) count(day, totals.prepaid_nanos);
  };
  throwFailures(await inParallel([...keys], MAX_PARALLEL, add));
  for await (const { day, prepaidNanos } of gpuEvents.listDays(organization, FIRST_DAY, LAST_DAY)) count(day, prepaidNanos);
  const spent = sum([...costs.values()]);
  const granted = sum(grants.map(({ amount_nanos }) => amount_nanos));
  const held = heldForRequests(shards) + (await heldForDeployments(deployments, organization));
  const available = sum(shards.map(availableNanosOf));
  const rests = [...remainingOfGrants(grants, costs, Date.parse(LAST_DAY))].filter(([, nanos]) => nanos > 0n);
  const left = rests.map(([grant, amount]) => ({ grant, amount }));
  return { organization, grants: grants.length, granted, spent, held, available, drift: granted - spent - held - available, left };
};
