import { type LimiterItem, moneyCountersOf } from './limiter-item.ts';
import type { Entry } from './reservation-entry.ts';
import { PAST_SLOTS, slotOf } from './sliding-window.ts';
import { dayNumberOf, monthBefore, monthOf } from './spending.ts';

/** Yesterday's money still counts because a request can end after midnight. */
const KEPT_DAYS = 1;

/** The actual usage of a request. */
export interface Used {
  tokens: number;
  costNanos: bigint;
}

/** The fields of a usage event that determine a request's charge. */
interface UsageFacts {
  admitted_at: number;
  prompt_tokens: number;
  completion_tokens: number;
  cost_nanos: bigint;
}

/** The charge of an admission from its request's usage event. A second admission, after the first was settled, is charged nothing more. */
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

/** Whether a counter no longer counts. */
const isStale = (counter: string, nowMs: number): boolean => {
  const time = Number(counter.slice(1));
  if (!Number.isInteger(time)) return false;
  switch (counter[0]) {
    case 'd':
      return time < dayNumberOf(nowMs) - KEPT_DAYS;
    case 'm':
      return time < monthBefore(monthOf(nowMs));
    default:
      return false;
  }
};

/** Corrections of the counters that still count, from reserved to used amounts. */
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
 * RELEASE or UNDO as a DynamoDB update: removes the entry and corrects the counters from reserved to used amounts. It takes effect only once, because
 * its condition holds only while this admission is in flight.
 */
export const toEnd = (ending: Ending) => {
  const { requestId, entry, used, nowMs, known } = ending;
  const corrections = [...correctionsOf(ending)];
  const stale = Object.keys(known ?? {}).filter((name) => isStale(name, nowMs));
  const costNanos = used === 'undone' ? 0n : used.costNanos;
  const giveBack = entry.isFromCredit && entry.holdNanos !== costNanos;
  return {
    UpdateExpression: [
      `REMOVE ${['fl.#id', ...stale.map((_, i) => `#s${i}`)].join(', ')}`,
      giveBack && 'SET avail = avail + :back',
      corrections.length > 0 && `ADD ${corrections.map((_, i) => `#c${i} :c${i}`).join(', ')}`,
    ]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: 'fl.#id[0] = :at',
    ExpressionAttributeNames: {
      '#id': requestId,
      ...Object.fromEntries(stale.map((name, i) => [`#s${i}`, name])),
      ...Object.fromEntries(corrections.map(([name], i) => [`#c${i}`, name])),
    },
    ExpressionAttributeValues: {
      ':at': entry.admittedAtMs,
      ...(giveBack && { ':back': entry.holdNanos - costNanos }),
      ...Object.fromEntries(corrections.map(([, value], i) => [`:c${i}`, value])),
    },
  };
};
