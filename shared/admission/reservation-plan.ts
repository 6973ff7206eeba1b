import { moneyCountersOf } from './limiter-item.ts';
import type { Period } from './limits.ts';
import { type Entry, storedEntry } from './reservation-entry.ts';
import { epochKeyOf } from './sweep-epoch.ts';

/** The bounds of one minute. */
export interface MinuteBounds {
  /** The minute to count in: our own, or the next one if our clock is behind. */
  minute: number;
  tokens: number;
  /** The highest counts of the previous minute for which the bounds are correct. */
  previousRequests: number;
  previousTokens: number;
  /** The highest counts of the current minute before this request; Infinity: no limit. */
  maxRequests: number;
  maxTokens: number;
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
  minute?: MinuteBounds;
  /** The highest count of each budget before this request. */
  budgets: Partial<Record<Period, bigint>>;
  nowMs: number;
}

interface Write {
  set: string[];
  add: string[];
  clauses: string[];
  names: Record<string, string>;
  values: Record<string, unknown>;
}

/** A counter is at most this. A missing counter is 0, so it does not pass a negative bound. */
const atMost = (name: string, bound: string, most: number | bigint): string =>
  most < 0 ? `${name} <= ${bound}` : `(attribute_not_exists(${name}) OR ${name} <= ${bound})`;

const countMinute = ({ minute, tokens, ...bounds }: MinuteBounds, { add, clauses, names, values }: Write): void => {
  add.push('#rc :one', '#tc :tok');
  Object.assign(names, { '#rc': `r${minute}`, '#tc': `t${minute}`, '#rn': `r${minute + 1}` });
  Object.assign(values, { ':one': 1, ':tok': tokens });
  clauses.push('attribute_not_exists(#rn)'); // no caller's clock has reached the next minute
  const bound = (kind: 'r' | 't', previous: number, max: number): void => {
    if (max === Number.POSITIVE_INFINITY) return;
    names[`#${kind}p`] = `${kind}${minute - 1}`;
    Object.assign(values, { [`:${kind}p`]: previous, [`:${kind}max`]: max });
    clauses.push(
      atMost(`#${kind}p`, `:${kind}p`, previous), // the previous minute was not underestimated
      atMost(`#${kind}c`, `:${kind}max`, max),
    );
  };
  bound('r', bounds.previousRequests, bounds.maxRequests);
  bound('t', bounds.previousTokens, bounds.maxTokens);
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
  const { limiterId, requestId, entry, cfg, concurrency, minute, nowMs } = plan;
  const write: Write = {
    set: ['fl.#id = :entry', 'last_used = :now', 'ep = :ep'],
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
  if (minute) countMinute(minute, write);
  hold(plan, write);
  return {
    UpdateExpression: `SET ${write.set.join(', ')}${write.add.length > 0 ? ` ADD ${write.add.join(', ')}` : ''}`,
    ConditionExpression: write.clauses.join(' AND '),
    ExpressionAttributeNames: write.names,
    ExpressionAttributeValues: write.values,
  };
};
