import { type LimiterItem, moneyCountersOf } from '../item/limiter-item.ts';
import type { Entry } from '../item/reservation-entry.ts';
import { PAST_SLOTS, slotOf } from '../item/sliding-window.ts';
import { dayNumberOf, monthBefore, monthOf } from '../item/spending.ts';

// Yesterday's money still counts because a request can end after midnight.
const KEPT_DAYS = 1;

/** The actual usage of a request. */
export interface Used {
  tokens: number;
  costNanos: bigint;
}

interface UsageFacts {
  admitted_at: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_nanos: bigint;
}

/**
 * The charge of an admission from its request's usage event. A second admission, after the first was settled, is
 * charged nothing more.
 */
export const usedBy = (event: UsageFacts, admittedAtMs: number): Used =>
  event.admitted_at === admittedAtMs
    ? { tokens: event.prompt_tokens + event.completion_tokens, costNanos: event.cost_nanos }
    : { tokens: 0, costNanos: 0n };

export interface Ending {
  limiterId: string;
  requestId: string;
  entry: Entry;
  /** The request's usage; `undone`: it was not admitted after all. */
  used: Used | 'undone';
  nowMs: number;
  /** Any image of the item; its counters that no longer count are removed. */
  known?: LimiterItem | undefined;
}

const isStale = (name: string, nowMs: number): boolean => {
  // For other names, such as `models`, the time is not a number, and every comparison is false.
  if (name.startsWith('d')) return Number(name.slice(1)) < dayNumberOf(nowMs) - KEPT_DAYS;
  return name.startsWith('m') && Number(name.slice(1)) < monthBefore(monthOf(nowMs));
};

const correctionsOf = ({ requestId, entry, used, nowMs }: Ending): Map<string, number | bigint> => {
  const corrections = new Map<string, number | bigint>();
  const slot = slotOf(entry.admittedAtMs);
  const { tokens, costNanos } = used === 'undone' ? { tokens: 0, costNanos: 0n } : used;
  if (entry.tokens !== undefined && slotOf(nowMs) - slot <= PAST_SLOTS) {
    if (used === 'undone') corrections.set(`r${slot}`, -1);
    if (tokens !== entry.tokens) corrections.set(`t${slot}`, tokens - entry.tokens);
  }
  const spent = costNanos - entry.holdNanos;
  if (spent !== 0n)
    for (const counter of Object.values(moneyCountersOf(requestId))) if (!isStale(counter, nowMs)) corrections.set(counter, spent);
  return corrections;
};

/**
 * RELEASE or UNDO as a DynamoDB update: removes the entry and corrects the counters from reserved to used amounts. It
 * takes effect only once, because its condition holds only while this admission is in flight.
 */
export const toEnd = (ending: Ending) => {
  const { requestId, entry, used, nowMs, known } = ending;
  const corrections = [...correctionsOf(ending)];
  const stale = known ? Object.keys(known).filter((name) => isStale(name, nowMs)) : [];
  const costNanos = used === 'undone' ? 0n : used.costNanos;
  const isRefunded = entry.isFromCredit && entry.holdNanos !== costNanos;
  const names: Record<string, string> = { '#id': requestId };
  const values: Record<string, unknown> = { ':at': entry.admittedAtMs };
  if (isRefunded) values[':back'] = entry.holdNanos - costNanos;
  for (const [i, name] of stale.entries()) names[`#s${i}`] = name;
  for (const [i, [counter, correction]] of corrections.entries()) {
    names[`#c${i}`] = counter;
    values[`:c${i}`] = correction;
  }
  return {
    UpdateExpression: [
      `REMOVE ${['fl.#id', ...stale.map((_, i) => `#s${i}`)].join(', ')}`,
      isRefunded && 'SET avail = avail + :back',
      corrections.length > 0 && `ADD ${corrections.map((_, i) => `#c${i} :c${i}`).join(', ')}`,
    ]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: 'fl.#id[0] = :at',
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};
