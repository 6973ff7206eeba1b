import { type Entry, storedEntry } from './entry.ts';
import { epochKeyOf } from './epoch.ts';
import { moneyCountersOf } from './limiter.ts';

/** One minute's counters, and the bounds that prove that a request fits; no bound is ever negative, because an absent counter would pass it. */
export interface MinuteBounds {
  /** The minute to count in; our own, or the next when our clock is behind. */
  minute: number;
  tokens: number;
  /** The most that the previous minute may hold for the bounds to be right. */
  previousRequests: number;
  previousTokens: number;
  /** The most that the current minute may hold before this request; Infinity: no limit. */
  maxRequests: number;
  maxTokens: number;
}

/** One reservation to be written. */
export interface Reservation {
  limiterId: string;
  requestId: string;
  entry: Entry;
  /** The configuration version that the decision was made on. */
  cfg: number;
  /** The most requests in flight; Infinity: no limit. */
  concurrency: number;
  minute?: MinuteBounds;
  /** The most that may be counted in each budget before this request. */
  budgets: Partial<Record<'day' | 'month' | 'total', bigint>>;
  nowMs: number;
}

/** The parts of an update expression with its names and values. */
interface Write {
  set: string[];
  add: string[];
  clauses: string[];
  names: Record<string, string>;
  values: Record<string, unknown>;
}

const countMinute = ({ minute, tokens, ...bounds }: MinuteBounds, { add, clauses, names, values }: Write): void => {
  add.push('#rc :one', '#tc :tok');
  Object.assign(names, { '#rc': `r${minute}`, '#tc': `t${minute}`, '#rn': `r${minute + 1}` });
  Object.assign(values, { ':one': 1, ':tok': tokens });
  clauses.push('attribute_not_exists(#rn)'); // nobody's clock has reached the next minute
  const bound = (kind: 'r' | 't', previous: number, max: number): void => {
    if (max === Number.POSITIVE_INFINITY) return;
    names[`#${kind}p`] = `${kind}${minute - 1}`;
    Object.assign(values, { [`:${kind}p`]: previous, [`:${kind}max`]: max });
    clauses.push(
      `(attribute_not_exists(#${kind}p) OR #${kind}p <= :${kind}p)`, // the previous minute was not underrated
      `(attribute_not_exists(#${kind}c) OR #${kind}c <= :${kind}max)`,
    );
  };
  bound('r', bounds.previousRequests, bounds.maxRequests);
  bound('t', bounds.previousTokens, bounds.maxTokens);
};

const hold = ({ requestId, entry, budgets }: Reservation, { set, add, clauses, names, values }: Write): void => {
  if (entry.holdNanos === 0n) return;
  values[':hold'] = entry.holdNanos;
  for (const [period, counter] of Object.entries(moneyCountersOf(requestId))) {
    names[`#${period}`] = counter;
    add.push(`#${period} :hold`);
    const max = budgets[period as keyof typeof budgets];
    if (max === undefined) continue;
    values[`:${period}`] = max;
    clauses.push(`(attribute_not_exists(#${period}) OR #${period} <= :${period})`);
  }
  if (!entry.isFromCredit) return;
  set.push('avail = avail - :hold');
  clauses.push('avail >= :hold');
};

/** ADMIT as DynamoDB takes it. Each clause must hold at the write, or nothing is written. */
export const toAdmit = (reservation: Reservation) => {
  const { limiterId, requestId, entry, cfg, concurrency, minute, nowMs } = reservation;
  const write: Write = {
    set: ['fl.#id = :entry', 'last_used = :now', 'ep = :ep'],
    add: [],
    clauses: [
      'cfg = :cfg', // status, hash, allow-list, expiry and limits are those that were checked
      'attribute_not_exists(fl.#id)', // not admitted already: a retry of this very write
    ],
    names: { '#id': requestId },
    values: { ':entry': storedEntry(entry), ':now': nowMs, ':ep': epochKeyOf(limiterId, nowMs), ':cfg': cfg },
  };
  if (concurrency !== Number.POSITIVE_INFINITY) {
    write.values[':c'] = concurrency;
    write.clauses.push('size(fl) < :c');
  }
  if (minute) countMinute(minute, write);
  hold(reservation, write);
  return {
    UpdateExpression: `SET ${write.set.join(', ')}${write.add.length > 0 ? ` ADD ${write.add.join(', ')}` : ''}`,
    ConditionExpression: write.clauses.join(' AND '),
    ExpressionAttributeNames: write.names,
    ExpressionAttributeValues: write.values,
  };
};
