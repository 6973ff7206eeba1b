import { moneyCountersOf, NOT_COUNTED_AFTER, slotValues } from './limiter-item.ts';
import type { Period } from './limits.ts';
import { type Entry, storedEntry } from './reservation-entry.ts';
import { epochKeyOf } from './sweep-epoch.ts';

/** What proves that a request fits one limit. */
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
  budgets: Partial<Record<Period, bigint>>;
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

/** A counter is at most this. A missing counter is 0, so it does not pass a negative bound. */
const atMost = (name: string, bound: string, most: number | bigint): string =>
  most < 0 ? `${name} <= ${bound}` : `(attribute_not_exists(${name}) OR ${name} <= ${bound})`;

const countInSlot = ({ slot, tokens, ofRequests, ofTokens, stale }: SlotBounds, write: Write): void => {
  const { set, remove, add, clauses, names, values } = write;
  set.push('slot = :slot');
  add.push('#rc :one', '#tc :tok');
  Object.assign(names, { '#rc': `r${slot}`, '#tc': `t${slot}` });
  Object.assign(values, { ':one': 1, ':tok': tokens, ...slotValues(slot) });
  clauses.push(NOT_COUNTED_AFTER);
  const bound = (kind: 'r' | 't', { past, most }: RateBound): void => {
    for (const [i, count] of past.entries()) {
      names[`#${kind}${i}`] = `${kind}${slot - 1 - i}`;
      values[`:${kind}${i}`] = count;
      clauses.push(atMost(`#${kind}${i}`, `:${kind}${i}`, count)); // an earlier slot was not underestimated
    }
    values[`:${kind}most`] = most;
    clauses.push(atMost(`#${kind}c`, `:${kind}most`, most));
  };
  if (ofRequests) bound('r', ofRequests);
  if (ofTokens) bound('t', ofTokens);
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
    const max = budgets[period as keyof typeof budgets];
    if (max === undefined) continue;
    values[`:${period}`] = max;
    clauses.push(atMost(`#${period}`, `:${period}`, max));
  }
  if (!entry.isFromCredit) return;
  set.push('avail = avail - :hold');
  clauses.push('avail >= :hold');
};

/** ADMIT as a DynamoDB update. Every clause must hold at the write, or nothing is written. */
export const toReserve = (plan: ReservationPlan) => {
  const { limiterId, requestId, entry, cfg, concurrency, counted, nowMs } = plan;
  const write: Write = {
    set: ['fl.#id = :entry', 'last_used = :now', 'ep = :ep'],
    remove: [],
    add: [],
    clauses: [
      'cfg = :cfg', // status, hash, allow-list, expiry and limits are the ones that were checked
      'attribute_not_exists(fl.#id)', // not already admitted by an earlier attempt of this write
    ],
    names: { '#id': requestId },
    values: { ':entry': storedEntry(entry), ':now': nowMs, ':ep': epochKeyOf(limiterId, nowMs), ':cfg': cfg },
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
