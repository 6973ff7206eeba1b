import type { TransactItem } from '../../database/database.ts';
import {
  budgetAttributes,
  countsRates,
  hasCountedAfter,
  inFlightOf,
  type LimiterItem,
  NOT_COUNTED_AFTER,
  rateAttributes,
  type StoredNanos,
  slotCounters,
  slotValues,
  wholeLimitsOf,
  wholeRateLimitsOf,
} from '../item/limiter-item.ts';
import { SPARE_IN_FLIGHT } from '../item/shards.ts';
import { slotOf } from '../item/sliding-window.ts';
import { dayNumberOf, monthAfter, monthBefore, monthOf } from '../item/spending.ts';

/**
 * Splitting a shard of an organization: a new shard gets half of its limits, counts and credit. Requests in flight
 * stay where they are. The condition proves that each of the two stays within its new part, so together they never
 * admit more than the old shard could.
 */
export interface Split {
  parent: LimiterItem;
  child: LimiterItem;
  /** The parent's new limits. */
  kept: Record<string, StoredNanos>;
  /** Counters and credit that move to the child. */
  moved: ReadonlyMap<string, bigint>;
  /** The highest counts of the parent, before the move, at which it stays within its new part. */
  bounds: ReadonlyMap<string, bigint>;
  /** The slot in which both count from now on; undefined: nothing is counted per minute. */
  slot: number | undefined;
}

const { requests, tokens, concurrency } = rateAttributes;
const { day, month, total } = budgetAttributes;
const LIMITS = [requests, tokens, concurrency, day, month, total] as const;

const halfOf = (amount: StoredNanos): bigint => BigInt(amount) / 2n;

// Half of the concurrency, or as much as is free of it.
const freeHalf = (parent: LimiterItem, limit: number): bigint =>
  BigInt(Math.max(0, Math.min(Math.floor(limit / 2), limit - inFlightOf(parent) - SPARE_IN_FLIGHT)));

// Requests can still use the counters of now, and those of clocks that are behind or ahead.
const moneyCounters = (limit: typeof day | typeof month | typeof total, nowMs: number): string[] => {
  const [today, thisMonth] = [dayNumberOf(nowMs), monthOf(nowMs)];
  if (limit === day) return [today - 1, today, today + 1].map((time) => `d${time}`);
  return limit === month ? [monthBefore(thisMonth), thisMonth, monthAfter(thisMonth)].map((time) => `m${time}`) : ['spent'];
};

/** @returns undefined if the shard cannot be split now, because one of the two would exceed its part */
export const planSplit = (parent: LimiterItem, childId: string, nowMs: number): Split | undefined => {
  const slot = slotOf(nowMs);
  if (countsRates(parent) && hasCountedAfter(parent, slot)) return undefined;
  const kept: Record<string, StoredNanos> = {};
  const given: Record<string, StoredNanos> = {};
  const moved = new Map<string, bigint>();
  const bounds = new Map<string, bigint>();
  // Only called with the names of counters and of credit.
  const countOf = (name: string): bigint => BigInt((parent as unknown as Record<string, StoredNanos>)[name] ?? 0);
  const move = (name: string): bigint => {
    const half = countOf(name) / 2n;
    if (half !== 0n) moved.set(name, half);
    return half;
  };
  let fits = true;
  for (const name of LIMITS) {
    const whole = parent[name];
    if (whole === undefined) continue;
    const half = name === concurrency ? freeHalf(parent, whole as number) : halfOf(whole);
    given[name] = typeof whole === 'number' ? Number(half) : half;
    kept[name] = typeof whole === 'number' ? whole - Number(half) : whole - half;
    if (name === requests || name === tokens || name === concurrency) continue;
    for (const counter of moneyCounters(name, nowMs)) {
      const half = move(counter);
      bounds.set(counter, BigInt(kept[name]) + half);
      fits &&= countOf(counter) - half <= BigInt(kept[name]) && half <= BigInt(given[name]);
    }
  }
  if (parent.avail !== undefined && BigInt(parent.avail) > 0n) move('avail');
  const sumOf = (counts: readonly bigint[]): bigint => counts.reduce((sum, count) => sum + count, 0n);
  for (const [kind, limit] of [
    ['r', requests],
    ['t', tokens],
  ] as const) {
    const counters = slotCounters(kind, slot);
    // Half of their sum moves, whatever the rounding of each.
    const halves = counters.map(
      (_, i) => sumOf(counters.slice(0, i + 1).map(countOf)) / 2n - sumOf(counters.slice(0, i).map(countOf)) / 2n,
    );
    for (const [i, name] of counters.entries()) if (halves[i] !== 0n) moved.set(name, halves[i] as bigint);
    if (kept[limit] === undefined) continue;
    const [current, ...past] = counters as [string, ...string[]];
    const stays = sumOf(counters.map(countOf)) - sumOf(halves);
    bounds.set(current, BigInt(kept[limit]) - stays + countOf(current));
    for (const name of past) bounds.set(name, countOf(name));
    fits &&= stays <= BigInt(kept[limit]) && sumOf(halves) <= BigInt(given[limit] ?? 0);
  }
  if (!fits || inFlightOf(parent) > Number(kept[concurrency] ?? Number.POSITIVE_INFINITY)) return undefined;
  const { org, status, prepaid } = parent;
  const counts = Object.fromEntries(
    [...moved].map(([name, amount]) => [name, Number.isSafeInteger(Number(amount)) ? Number(amount) : amount]),
  );
  const child = {
    ...(countsRates(parent) && { slot }),
    ...counts,
    ...given,
    ...wholeLimitsOf(wholeRateLimitsOf(parent)),
    ...(prepaid && { prepaid, avail: counts.avail ?? 0 }),
    id: childId,
    org,
    status,
    cfg: 1,
    fl: {},
  } as LimiterItem;
  return { parent, child, kept, moved, bounds, slot: countsRates(parent) ? slot : undefined };
};

const toKeep = ({ parent, kept, moved, bounds, slot }: Split, shards: number, before: number | undefined) => {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = { ':cfg': parent.cfg, ':one': 1 };
  const nameOf = (name: string): string => {
    const alias = `#${name}`;
    names[alias] = name;
    return alias;
  };
  const set = Object.entries({ ...kept, ...wholeLimitsOf(wholeRateLimitsOf(parent)), shards }).map(([name, value]) => {
    values[`:${name}`] = value;
    return `${nameOf(name)} = :${name}`;
  });
  const add = ['cfg :one'];
  const clauses = ['cfg = :cfg']; // the limits and the status are the ones that are divided
  for (const [name, amount] of moved) {
    if (name === 'avail') continue;
    values[`:by_${name}`] = -amount;
    add.push(`${nameOf(name)} :by_${name}`);
  }
  const credit = moved.get('avail');
  if (credit !== undefined) {
    values[':credit'] = credit;
    set.push('avail = avail - :credit');
    clauses.push('avail >= :credit');
  }
  if (slot !== undefined) {
    Object.assign(values, slotValues(slot));
    set.push('slot = :slot'); // clocks that are behind count in this slot from now on
    clauses.push(NOT_COUNTED_AFTER);
  }
  if (kept[concurrency] !== undefined) clauses.push(`size(fl) <= :${concurrency}`);
  for (const [name, most] of bounds) {
    values[`:most_${name}`] = most;
    // A missing counter is 0, which is within a bound of 0 or more only.
    clauses.push(
      most < 0n ? `${nameOf(name)} <= :most_${name}` : `(attribute_not_exists(${nameOf(name)}) OR ${nameOf(name)} <= :most_${name})`,
    );
  }
  if (before !== undefined) clauses.push(...ownClauses(before, values));
  return {
    UpdateExpression: `SET ${set.join(', ')} ADD ${add.join(', ')}`,
    ConditionExpression: clauses.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};

const ownClauses = (before: number, values: Record<string, unknown>): string[] => {
  if (before > 1) values[':before'] = before;
  return [before > 1 ? 'shards = :before' : 'attribute_not_exists(shards)', 'attribute_not_exists(pending)'];
};

/** The writes of one transaction that makes these splits. @param before the number of shards */
export const toSplit = (table: string, organization: string, splits: readonly Split[], before: number): TransactItem[] => {
  const shards = before + splits.length;
  const writes = splits.flatMap((split): TransactItem[] => {
    const { parent, child } = split;
    const isOwn = parent.id === organization;
    return [
      { Update: { TableName: table, Key: { id: parent.id }, ...toKeep(split, shards, isOwn ? before : undefined) } },
      { Put: { TableName: table, Item: { ...child, shards }, ConditionExpression: 'attribute_not_exists(id)' } },
    ];
  });
  if (splits.some(({ parent }) => parent.id === organization)) return writes;
  const values: Record<string, unknown> = { ':shards': shards };
  const own = {
    TableName: table,
    Key: { id: organization },
    UpdateExpression: 'SET shards = :shards',
    ConditionExpression: ownClauses(before, values).join(' AND '),
    ExpressionAttributeValues: values,
  };
  return [{ Update: own }, ...writes];
};
