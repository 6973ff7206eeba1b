import { isDeepStrictEqual } from 'node:util';
import { FIRST_DAY, LAST_DAY } from '../../../../functions/control/organizations/balance.ts';
import { entriesOf, type LimiterItem } from '../../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardIds } from '../../../../shared/admission/item/shards.ts';
import { CREDIT, currentMoneyCounters, moneyCountsOf } from '../../../../shared/admission/plans/correct-money.ts';
import type { LimiterConfigurationStore } from '../../../../shared/admission/stores/limiter-configuration-store.ts';
import type { CreditStore } from '../../../../shared/credit/credit-store.ts';
import { heldForDeployments } from '../../../../shared/credit/held-credit.ts';
import type { DeploymentStore } from '../../../../shared/deployments/deployment-store.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import type { GpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../../../shared/usage/usage-store.ts';
import { abs } from './drift.ts';
import { addSpending, type EventDependencies, listCounted, Spending, type SpendingKey } from './spent-money.ts';

export interface MoneyDependencies extends EventDependencies {
  limiters: LimiterConfigurationStore;
  usage: UsageStore;
  credit: CreditStore;
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
  deployments: Pick<DeploymentStore, 'list'>;
  /** ms since the epoch. */
  now: () => number;
}

/** Counts of the budgets' counters and credits that were wrong. */
export interface MoneyReport {
  /** Keys, end users, projects and organizations whose counters differed from their events. */
  wrong: number;
  /** The absolute differences. */
  counted_nanos: bigint;
  credit_nanos: bigint;
  /** Those that were in use all the time, so that nothing could be compared. */
  busy: string[];
}

export const noMoneyReport = (): MoneyReport => ({ wrong: 0, counted_nanos: 0n, credit_nanos: 0n, busy: [] });

/** A key, a project or an organization whose money is counted. */
export interface Counting {
  id: string;
  /** The number of its limiter items. */
  items: number;
  /** The keys whose requests it counts. */
  keys: readonly SpendingKey[];
  /** Since when it counts them, in ms since the epoch. */
  sinceMs: number;
  /** The project to which a request must belong to be counted. Default: all requests of the keys are. */
  project?: string;
}

/** Requests can make a count fail this often; then it is reported as busy. */
export const MAX_COUNTING_ATTEMPTS = 5;

/**
 * Adds what limiters hold for requests in flight. The event of a request that is about to be released is not counted
 * twice.
 */
export const addMoneyInFlight = async (
  { usage }: Pick<MoneyDependencies, 'usage'>,
  { keys }: Pick<Counting, 'keys'>,
  items: readonly LimiterItem[],
  spending: Spending,
): Promise<void> => {
  const shardsOf = new Map(keys.map(({ id, shards }) => [id, shards]));
  for (const item of items)
    for (const [requestId, { admittedAtMs, holdNanos, isFromCredit, link }] of entriesOf(item)) {
      const keyId = ownerIdOf(typeof link === 'string' ? link : item.id);
      const event = await usage.get(keyId, requestId, shardsOf.get(keyId));
      const settled = event?.admitted_at === admittedAtMs ? event.cost_nanos : 0n;
      spending.count(requestTimeMs(requestId), holdNanos - settled);
      if (isFromCredit) spending.pay(holdNanos - settled);
    }
};

// Grants, less GPU time that was paid with credit or is held for deployments.
const creditOf = async ({ credit, gpuEvents, deployments }: MoneyDependencies, organization: string): Promise<bigint> => {
  let nanos = -(await heldForDeployments(deployments, organization));
  for await (const { amount_nanos } of credit.list(organization)) nanos += amount_nanos;
  for await (const { prepaidNanos } of gpuEvents.listDays(organization, FIRST_DAY, LAST_DAY)) nanos -= prepaidNanos;
  return nanos;
};

const addEvents = async (
  deps: MoneyDependencies,
  { keys, sinceMs, project }: Counting,
  spending: Spending,
  nowMs: number,
): Promise<void> => {
  for (const key of keys) {
    if (project === undefined) await addSpending(deps, key, spending, { sinceMs, nowMs });
    else
      for await (const { project_id, request_id, cost_nanos } of listCounted(deps, key, { sinceMs, nowMs }))
        if (project_id === project) spending.count(requestTimeMs(request_id), cost_nanos);
  }
};

/**
 * Corrects what a key, a project or an organization has counted of its budgets, and an organization's credit, by its
 * events. The items are read before and after the events, so requests can continue meanwhile. The difference goes to
 * the own item.
 */
export const rebuildMoney = async (deps: MoneyDependencies, counting: Counting, report: MoneyReport): Promise<void> => {
  const { limiters, now } = deps;
  for (let attempt = 0; attempt < MAX_COUNTING_ATTEMPTS; attempt++) {
    const nowMs = now();
    const ids = shardIds(counting.id, counting.items);
    const items = await limiters.getMany(ids);
    const spending = new Spending();
    await addEvents(deps, counting, spending, nowMs);
    await addMoneyInFlight(deps, counting, items, spending);
    const own = items.find(({ id }) => id === counting.id);
    const granted = own?.grants === undefined ? undefined : await creditOf(deps, counting.id);
    if (!own || !isDeepStrictEqual(items, await limiters.getMany(ids))) continue;
    const counters = currentMoneyCounters(nowMs);
    const counted = moneyCountsOf(items, [...counters, CREDIT]);
    const corrections = new Map<string, bigint>();
    for (const name of counters) corrections.set(name, spending.of(name) - (counted.get(name) ?? 0n));
    if (granted !== undefined) corrections.set(CREDIT, granted - spending.of(CREDIT) - (counted.get(CREDIT) ?? 0n));
    const wrong = new Map([...corrections].filter(([, nanos]) => nanos !== 0n));
    if (wrong.size === 0) return;
    if (!(await limiters.correct(own, wrong))) continue;
    report.wrong++;
    for (const [name, nanos] of wrong) report[name === CREDIT ? 'credit_nanos' : 'counted_nanos'] += abs(nanos);
    return;
  }
  report.busy.push(counting.id);
};
