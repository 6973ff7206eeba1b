import type { TransactItem } from '../../database/database.ts';
import { budgetsOf, type LimiterItem, moneyCountersOf, moneyOf } from '../item/limiter-item.ts';
import type { BudgetPeriod } from '../item/limits.ts';

// A transaction has at most 100 writes.
const MAX_DONORS = 90;
// Below this many times a request's cost per shard on average, a move collects that much in one of them.
const SCARCE_HOLDS = 8n;

type Pot = BudgetPeriod | 'credit';

/** Money that moves between the shards of a key or organization. Their sums stay the same. */
export interface Move {
  requestId: string;
  target: LimiterItem;
  /** The shards have so little money that a fair part of it would not pay for many requests. */
  isScarce: boolean;
  donors: readonly { item: LimiterItem; takes: ReadonlyMap<Pot, bigint> }[];
}

const roomsOf = (item: LimiterItem, requestId: string): Map<Pot, bigint> => {
  const { budgets, creditNanos } = moneyOf(item, requestId);
  const rooms = new Map<Pot, bigint>(budgets.map(({ period, limitNanos, countedNanos }) => [period, limitNanos - countedNanos]));
  if (creditNanos !== undefined) rooms.set('credit', creditNanos);
  return rooms;
};

const smallest = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Plans how the target can pay for a request: it gets enough for this request and a fair part of the rest, so that
 * the next requests need no move.
 * @returns undefined if the target needs nothing, or if the richest shards do not have enough
 */
export const planMove = (items: readonly LimiterItem[], target: LimiterItem, requestId: string, holdNanos: bigint): Move | undefined => {
  const rooms = new Map(items.map((item) => [item, roomsOf(item, requestId)]));
  const takes = new Map<LimiterItem, Map<Pot, bigint>>();
  let hasLittle = false;
  for (const [pot, own] of roomsOf(target, requestId)) {
    if (own >= holdNanos) continue;
    const others = items.filter(({ id }) => id !== target.id).map((item) => ({ item, room: rooms.get(item)?.get(pot) ?? 0n }));
    const richest = others.toSorted((one, other) => (one.room < other.room ? 1 : one.room > other.room ? -1 : 0)).slice(0, MAX_DONORS);
    const mean = [own, ...others.map(({ room }) => room)].reduce((sum, room) => sum + room, 0n) / BigInt(items.length);
    const isScarce = mean < SCARCE_HOLDS * holdNanos;
    hasLittle ||= isScarce;
    // First what leaves each donor the mean; if that is too little or money is scarce, all that the donors have.
    for (const kept of isScarce ? [0n] : [mean, 0n]) {
      let missing = (isScarce ? SCARCE_HOLDS * holdNanos : kept > 0n ? kept : holdNanos) - own;
      const taken = richest.flatMap(({ item, room }): [LimiterItem, bigint][] => {
        const amount = smallest(room - kept, missing);
        if (amount <= 0n) return [];
        missing -= amount;
        return [[item, amount]];
      });
      if (own + taken.reduce((sum, [, amount]) => sum + amount, 0n) < holdNanos) continue;
      for (const [item, amount] of taken) takes.set(item, (takes.get(item) ?? new Map<Pot, bigint>()).set(pot, amount));
      break;
    }
  }
  const donors = [...takes].slice(0, MAX_DONORS).map(([item, amounts]) => ({ item, takes: amounts }));
  return donors.length === 0 ? undefined : { requestId, target, isScarce: hasLittle, donors };
};

const toPay = (item: LimiterItem, requestId: string, amounts: ReadonlyMap<Pot, bigint>, isDonor: boolean) => {
  const counters = moneyCountersOf(requestId);
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const clauses = ['attribute_exists(id)'];
  const add: string[] = [];
  if (isDonor) {
    values[':cfg'] = item.cfg;
    clauses.push('cfg = :cfg'); // the parts are the ones that were read
  }
  for (const [pot, amount] of amounts) {
    const counter = pot === 'credit' ? 'avail' : counters[pot];
    names[`#${pot}`] = counter;
    // Credit that a donor gives is less to spend; a budget that it gives is more that counts as spent.
    values[`:${pot}`] = (pot === 'credit') === isDonor ? -amount : amount;
    add.push(`#${pot} :${pot}`);
    if (!isDonor) continue;
    if (pot === 'credit') {
      values[':least'] = amount;
      clauses.push('#credit >= :least');
      continue;
    }
    const part = budgetsOf(item, requestId).find(({ period }) => period === pot)?.limitNanos ?? 0n;
    values[`:most_${pot}`] = part - amount;
    clauses.push(part < amount ? `#${pot} <= :most_${pot}` : `(attribute_not_exists(#${pot}) OR #${pot} <= :most_${pot})`);
  }
  return {
    UpdateExpression: `ADD ${add.join(', ')}`,
    ConditionExpression: clauses.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
};

/** The writes of one transaction that makes a move. */
export const toMove = (table: string, { requestId, target, donors }: Move): TransactItem[] => {
  const received = new Map<Pot, bigint>();
  for (const { takes } of donors) for (const [pot, amount] of takes) received.set(pot, (received.get(pot) ?? 0n) + amount);
  return [
    { Update: { TableName: table, Key: { id: target.id }, ...toPay(target, requestId, received, false) } },
    ...donors.map(({ item, takes }) => ({
      Update: { TableName: table, Key: { id: item.id }, ...toPay(item, requestId, takes, true) },
    })),
  ];
};
