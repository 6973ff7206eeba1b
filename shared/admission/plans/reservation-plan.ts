import { moneyCountersOf, NOT_COUNTED_AFTER, slotCounters, slotValues } from '../item/limiter-item.ts';
import type { BudgetPeriod } from '../item/limits.ts';
import { type Entry, storedEntry } from '../item/reservation-entry.ts';
import { PAST_SLOTS } from '../item/sliding-window.ts';
import { epochKeyOf } from '../item/sweep-epoch.ts';

/** The bounds that prove that a request fits one limit. */
export interface RateBound {
  /** The highest counts of the slots before this one for which `most` is correct, the newest first. */
  past: readonly number[];
  /** The highest count of the slot before this request. */
  most: number;
}

/** A request's count in a slot. */
export interface SlotBounds {
  /** The slot to count in: our own, or a later one if our clock is behind. */
  slot: number;
  tokens: number;
  /** Absent: no limit. */
  ofRequests?: RateBound | undefined;
  ofTokens?: RateBound | undefined;
  /** Counters of slots that no longer count, which the write removes. */
  stale: readonly string[];
}

/** A reservation to write, with the bounds that prove that the request fits. */
export interface ReservationPlan {
  limiterId: string;
  requestId: string;
  entry: Entry;
  /** The configuration version that the decision was made on. */
  cfg: number;
  /** The most requests in flight; Infinity: no limit. */
  concurrency: number;
  counted?: SlotBounds;
  /** The highest count of each budget before this request. */
  budgets: Partial<Record<BudgetPeriod, bigint>>;
  /**
   * When DynamoDB may delete the item, in seconds since the epoch. Then the sweep finds the entry through that of the
   * key, and no index lists the item.
   */
  deleteAt?: number | undefined;
  nowMs: number;
}

interface Write {
  set: string[];
  remove: string[];
  add: string[];
  clauses: string[];
  names: Record<string, string>;
  values: Record<string, unknown>;
}

interface Bounded {
  name: string;
  bound: string;
  /** The counter is at most the bound. */
  isAtMost: string;
  /** The same for a negative bound, which a missing counter does not pass, because it is 0. */
  isAtMostNegative: string;
}

const bounded = (name: string, bound: string): Bounded => ({
  name,
  bound,
  isAtMost: `(attribute_not_exists(${name}) OR ${name} <= ${bound})`,
  isAtMostNegative: `${name} <= ${bound}`,
});

const atMost = ({ isAtMost, isAtMostNegative }: Bounded, most: number | bigint): string => (most < 0 ? isAtMostNegative : isAtMost);

const boundedCounters = (kind: 'r' | 't'): Bounded[] => [
  bounded(`#${kind}c`, `:${kind}most`),
  ...Array.from({ length: PAST_SLOTS }, (_, i) => bounded(`#${kind}${i}`, `:${kind}${i}`)),
];
const slotBound = { r: boundedCounters('r'), t: boundedCounters('t') };
const budgetBound = { day: bounded('#day', ':day'), month: bounded('#month', ':month'), total: bounded('#total', ':total') };

const boundRate = (kind: 'r' | 't', slot: number, { past, most }: RateBound, { clauses, names, values }: Write): void => {
  const counters = slotCounters(kind, slot);
  for (const [i, counter] of slotBound[kind].entries()) {
    // The counts of earlier slots were not underestimated.
    const highest = i === 0 ? most : (past[i - 1] as number);
    names[counter.name] = counters[i] as string;
    values[counter.bound] = highest;
    clauses.push(atMost(counter, highest));
  }
};

const countInSlot = ({ slot, tokens, ofRequests, ofTokens, stale }: SlotBounds, write: Write): void => {
  const { set, remove, add, clauses, names, values } = write;
  set.push('slot = :slot');
  add.push('#rc :one', '#tc :tok');
  Object.assign(names, { '#rc': `r${slot}`, '#tc': `t${slot}` });
  Object.assign(values, { ':one': 1, ':tok': tokens }, slotValues(slot));
  clauses.push(NOT_COUNTED_AFTER);
  if (ofRequests) boundRate('r', slot, ofRequests, write);
  if (ofTokens) boundRate('t', slot, ofTokens, write);
  for (const [i, name] of stale.entries()) {
    names[`#s${i}`] = name;
    remove.push(`#s${i}`);
  }
};

const hold = ({ requestId, entry, budgets }: ReservationPlan, { set, add, clauses, names, values }: Write): void => {
  if (entry.holdNanos === 0n) return;
  values[':hold'] = entry.holdNanos;
  for (const [period, counter] of Object.entries(moneyCountersOf(requestId))) {
    names[`#${period}`] = counter;
    add.push(`#${period} :hold`);
    const max = budgets[period as BudgetPeriod];
    if (max === undefined) continue;
    values[`:${period}`] = max;
    clauses.push(atMost(budgetBound[period as BudgetPeriod], max));
  }
  if (!entry.isFromCredit) return;
  set.push('avail = avail - :hold');
  clauses.push('avail >= :hold');
};

/** ADMIT as a DynamoDB update. Every clause must hold at the write, or nothing is written. */
export const toReserve = (plan: ReservationPlan) => {
  const { limiterId, requestId, entry, cfg, concurrency, counted, deleteAt, nowMs } = plan;
  const write: Write = {
    set: ['fl.#id = :entry', 'last_used = :now', deleteAt === undefined ? 'ep = :ep' : 'del_at = :delete'],
    remove: [],
    add: [],
    clauses: [
      'cfg = :cfg', // status, hash, allow-list, expiry and limits are the ones that were checked
      'attribute_not_exists(fl.#id)', // not already admitted by an earlier attempt of this write
    ],
    names: { '#id': requestId },
    values: {
      ':entry': storedEntry(entry),
      ':now': nowMs,
      ':cfg': cfg,
      ...(deleteAt === undefined ? { ':ep': epochKeyOf(limiterId, nowMs) } : { ':delete': deleteAt }),
    },
  };
  if (concurrency !== Number.POSITIVE_INFINITY) {
    write.values[':c'] = concurrency;
    write.clauses.push('size(fl) < :c');
  }
  if (counted) countInSlot(counted, write);
  hold(plan, write);
  return {
    UpdateExpression: [
      `SET ${write.set.join(', ')}`,
      write.add.length > 0 && `ADD ${write.add.join(', ')}`,
      write.remove.length > 0 && `REMOVE ${write.remove.join(', ')}`,
    ]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: write.clauses.join(' AND '),
    ExpressionAttributeNames: write.names,
    ExpressionAttributeValues: write.values,
  };
};
