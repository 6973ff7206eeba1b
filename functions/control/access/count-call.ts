import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import type { Actor } from './actor.ts';
import { type Bound, type CallLimitName, type CallSpan, callLimitOf, maxOf, TooManyCalls } from './call-limits.ts';

interface Counts {
  /**
   * Counts `times` calls in a span, unless that would be more than `max`.
   * @returns whether they were counted, and when the span ends, in ms
   */
  count: (
    quota: { kind: string; span: CallSpan; account: string; max: number; by: number },
    nowMs: number,
  ) => Promise<{ isCounted: boolean; untilMs: number }>;
}

interface Call {
  actor: Actor;
  /** The id in the path, if there is one. */
  resource?: string | undefined;
  /** The email address that it sends something to. */
  recipient?: string;
}

const MAX_REMEMBERED = 1_000;

// After a failed write, an environment accepts this many calls uncounted, or those of this time, before the next one.
const LEFT_IN_OUTAGE = 20;
const OUTAGE_MS = 1_000;

interface Remembered {
  untilMs: number;
  /** All calls are rejected until then. */
  isReached: boolean;
  /** Calls that are counted already. */
  left: number;
}

interface Counted {
  id: string;
  kind: CallLimitName;
  bound: Bound;
  account: string;
}

const accountOf = (per: Bound['per'], { actor, resource, recipient }: Call): string | undefined => {
  const account = actor.organization ?? actor.userId;
  if (per === 'user') return actor.userId;
  if (per === 'organization') return actor.organization ?? undefined;
  if (per === 'resource') return `${account}/${resource}`;
  return per === 'recipient' ? recipient : account;
};

const countedOf = (kind: CallLimitName, call: Call): Counted[] =>
  callLimitOf(kind).bounds.flatMap((bound) => {
    const account = accountOf(bound.per, call);
    return account === undefined ? [] : [{ id: `${kind}/${bound.per}/${bound.span}/${account}`, kind, bound, account }];
  });

/**
 * Counts calls in the table `attempts`, so that a limit holds for all environments together. Each environment remembers
 * which bounds are reached, so that rejected calls write nothing.
 */
export const createCallCounter = (quotas: Counts) => {
  const remembered = new Map<string, Remembered>();
  const remember = (id: string, what: Remembered): void => {
    remembered.delete(id);
    remembered.set(id, what);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  };

  const countBound = async ({ id, kind, bound, account }: Counted, actor: Actor, nowMs: number): Promise<void> => {
    const entry = remembered.get(id);
    if (entry && entry.untilMs > nowMs && entry.left > 0) {
      entry.left -= 1;
      return;
    }
    const { per, span, countedAtOnce: by = 1 } = bound;
    const max = maxOf(bound, actor);
    const quota = { kind: `${kind}/${per}`, span, account, max, by };
    const counted = await quotas.count(quota, nowMs).catch((error: unknown) => {
      if (!(error instanceof DatabaseUnavailable && callLimitOf(kind).isOpenInOutage)) throw error;
      return undefined;
    });
    if (!counted) return remember(id, { isReached: false, left: LEFT_IN_OUTAGE, untilMs: nowMs + OUTAGE_MS });
    const { isCounted, untilMs } = counted;
    if (!isCounted) {
      remember(id, { isReached: true, left: 0, untilMs });
      throw new TooManyCalls(bound, actor, untilMs - nowMs);
    }
    if (by > 1) remember(id, { isReached: false, left: by - 1, untilMs });
  };

  const countAll = async (limits: readonly CallLimitName[], call: Call, nowMs: number): Promise<void> => {
    const counted = limits.flatMap((name) => countedOf(name, call));
    for (const { id, bound } of counted) {
      const entry = remembered.get(id);
      if (entry?.isReached && entry.untilMs > nowMs) throw new TooManyCalls(bound, call.actor, entry.untilMs - nowMs);
    }
    for (const each of counted) await countBound(each, call.actor, nowMs);
  };

  return {
    /**
     * Counts a call against these limits, except those that rules count.
     * @throws 429 for the first bound that is reached
     */
    countCall: (limits: readonly CallLimitName[], call: Call, nowMs: number): Promise<void> =>
      countAll(
        limits.filter((name) => !callLimitOf(name).isCountedByRule),
        call,
        nowMs,
      ),

    /** Counts a rule's action against one limit. @throws 429 */
    countByRule: (name: CallLimitName, call: Call, nowMs: number): Promise<void> => countAll([name], call, nowMs),
  };
};

export type CallCounter = ReturnType<typeof createCallCounter>;
