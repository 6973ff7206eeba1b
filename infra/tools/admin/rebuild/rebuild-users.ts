import { isDeepStrictEqual } from 'node:util';
import type { StoredApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { userDeletedAt, userHashOf } from '../../../../functions/inference/admission/user.ts';
import { type LimiterItem, moneyCountersAt } from '../../../../shared/admission/item/limiter-item.ts';
import { userLimiterId } from '../../../../shared/admission/item/user-limiter.ts';
import { currentMoneyCounters, moneyCountsOf } from '../../../../shared/admission/plans/correct-money.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { abs } from './drift.ts';
import type { Period } from './limiting-changes.ts';
import type { LimiterReport } from './rebuild-limiters.ts';
import { addMoneyInFlight, MAX_COUNTING_ATTEMPTS, type MoneyDependencies, type MoneyReport } from './rebuild-money.ts';
import { listCounted, Spending } from './spent-money.ts';

interface Report {
  limiters: LimiterReport;
  money: MoneyReport;
}

interface UsersOfKey {
  known: readonly string[];
  /** Default: since the key was created. */
  periods?: readonly Period[] | undefined;
}

// End users only have monthly budgets.
const monthsAt = (nowMs: number): string[] => [...currentMoneyCounters(nowMs)].filter((counter) => counter.startsWith('m'));

const startOfLastMonth = (nowMs: number): number => {
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1);
};

// Earlier keys can have had the id of a temporary key. Their users had other limiters.
const sinceOf = ({ series, created_at }: StoredApiKey): number | undefined => (series === undefined ? undefined : created_at);

const limiterOf = ({ key_id, user_id, user }: UsageEvent, since: number | undefined): string | undefined => {
  const named = user_id ?? user;
  return named === undefined ? undefined : userLimiterId(key_id, userHashOf(key_id, named, since));
};

// By the limiter of the end user, in this month and the last one.
const spendingOf = async (
  deps: MoneyDependencies,
  key: StoredApiKey,
  periods: readonly Period[],
  nowMs: number,
): Promise<Map<string, Spending>> => {
  const spending = new Map<string, Spending>();
  const since = sinceOf(key);
  const sinceMs = Math.max(startOfLastMonth(nowMs), (since ?? 0) * SECOND_MS);
  for await (const event of listCounted(deps, key, { sinceMs, nowMs })) {
    const id = limiterOf(event, since);
    const atMs = requestTimeMs(event.request_id);
    if (id === undefined || !periods.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs)) continue;
    const ofUser = spending.get(id) ?? new Spending();
    ofUser.count(atMs, event.cost_nanos);
    spending.set(id, ofUser);
  }
  return spending;
};

// A user whose limiter is lost gets one if this month counts; without it, the next request creates one.
const createLost = async (
  { limiters }: MoneyDependencies,
  spending: ReadonlyMap<string, Spending>,
  nowMs: number,
  report: Report,
): Promise<string[]> => {
  const { month } = moneyCountersAt(nowMs);
  const spent = [...spending].flatMap(([id, ofUser]) => (ofUser.of(month) === 0n ? [] : id));
  const existing = new Set((await limiters.getMany(spent)).map(({ id }) => id));
  const lost = spent.filter((id) => !existing.has(id));
  for (const id of lost) await limiters.createUser(id, userDeletedAt(nowMs));
  report.limiters.created += lost.length;
  return spent;
};

// False if the limiter has counted something meanwhile.
const correctOne = async (
  { limiters }: MoneyDependencies,
  item: LimiterItem,
  spending: Spending,
  { nowMs, report }: { nowMs: number; report: Report },
): Promise<boolean> => {
  const months = monthsAt(nowMs);
  const counted = moneyCountsOf([item], months);
  const wrong = new Map(
    months.flatMap((month) => {
      const nanos = spending.of(month) - (counted.get(month) ?? 0n);
      return nanos === 0n ? [] : [[month, nanos] as const];
    }),
  );
  if (wrong.size === 0) return true;
  if (!(await limiters.correct(item, wrong))) return false;
  report.money.wrong++;
  for (const nanos of wrong.values()) report.money.counted_nanos += abs(nanos);
  return true;
};

/**
 * Creates the limiters of a key's end users that are lost, and corrects what all of them have counted of this month and
 * the last one, by the key's events. They are read before and after the events, so requests can continue meanwhile.
 * @param known the ids of the limiters that exist
 * @param periods the times in which the key had limits for its end users
 */
export const rebuildUsers = async (
  deps: MoneyDependencies,
  key: StoredApiKey,
  { known, periods = [{ fromMs: key.created_at * SECOND_MS, toMs: Number.POSITIVE_INFINITY }] }: UsersOfKey,
  report: Report,
): Promise<void> => {
  const done = new Set<string>();
  // The limiters of earlier keys are left as they are.
  let left = sinceOf(key) === undefined ? [...known] : [];
  for (let attempt = 0; attempt < MAX_COUNTING_ATTEMPTS; attempt++) {
    const nowMs = deps.now();
    const items = await deps.limiters.getMany(left);
    const spending = await spendingOf(deps, key, periods, nowMs);
    for (const item of items) {
      const ofUser = spending.get(item.id) ?? new Spending();
      await addMoneyInFlight(deps, { keys: [key] }, [item], ofUser);
      spending.set(item.id, ofUser);
    }
    const again = new Map((await deps.limiters.getMany(left)).map((item) => [item.id, item]));
    for (const item of items) {
      const isSame = isDeepStrictEqual(item, again.get(item.id));
      if (isSame && (await correctOne(deps, item, spending.get(item.id) as Spending, { nowMs, report }))) done.add(item.id);
    }
    const spent = await createLost(deps, spending, nowMs, report);
    left = [...new Set([...items.map(({ id }) => id), ...spent])].filter((id) => !done.has(id));
    if (left.length === 0) return;
  }
  report.money.busy.push(...left);
};
