import type { TransactItem } from '../../database/database.ts';
import { availableNanosOf, type LimiterItem, shardsOf } from '../item/limiter-item.ts';

// A transaction has at most 100 writes.
const MAX_DONORS = 90;

interface Donation {
  id: string;
  nanos: bigint;
}

/**
 * Plans the donations of other shards to an organization's own item, from which a deduction is then taken: the richest
 * shards first.
 * @returns empty if none has any credit available
 */
export const planCollection = (others: readonly LimiterItem[], missingNanos: bigint): Donation[] => {
  let missing = missingNanos;
  return others
    .map((item) => ({ id: item.id, nanos: availableNanosOf(item) }))
    .filter(({ nanos }) => nanos > 0n)
    .sort((one, other) => (one.nanos < other.nanos ? 1 : -1))
    .slice(0, MAX_DONORS)
    .flatMap(({ id, nanos }) => {
      if (missing <= 0n) return [];
      // The last one gives only what is missing.
      const rest = missing - nanos;
      missing = rest;
      return [{ id, nanos: rest < 0n ? nanos + rest : nanos }];
    });
};

/** The writes of one transaction that collects credit in an organization's own item. Its sum stays the same. */
export const toCollect = (table: string, ownId: string, donations: readonly Donation[]): TransactItem[] => {
  const change = (id: string, nanos: bigint, condition: string, values = {}): TransactItem => ({
    Update: {
      TableName: table,
      Key: { id },
      UpdateExpression: 'SET avail = avail + :amount',
      ConditionExpression: condition,
      ExpressionAttributeValues: { ':amount': nanos, ...values },
    },
  });
  const collected = donations.reduce((sum, { nanos }) => sum + nanos, 0n);
  return [
    change(ownId, collected, 'attribute_exists(avail)'),
    ...donations.map(({ id, nanos }) => change(id, -nanos, 'avail >= :least', { ':least': nanos })),
  ];
};

/**
 * The write that adds the grant with this number to an organization's own item. A deduction, a negative grant, that
 * this item can't pay makes its credit negative.
 */
export const toGrant = (table: string, own: LimiterItem, number: number, amountNanos: bigint): TransactItem => {
  const clauses = [number === 1 ? 'attribute_exists(id) AND attribute_not_exists(grants)' : 'grants = :before'];
  const values: Record<string, unknown> = { ':zero': 0, ':amount': amountNanos, ':number': number };
  if (number > 1) values[':before'] = number - 1;
  if (amountNanos < 0n && shardsOf(own) === 1) clauses.push('attribute_not_exists(shards)'); // nothing else has the credit
  if (amountNanos < 0n && shardsOf(own) > 1) {
    const canPay = availableNanosOf(own) >= -amountNanos;
    clauses.push(canPay ? 'avail >= :least' : 'avail = :least AND shards = :shards'); // no credit has left this item since all were read
    values[':least'] = canPay ? -amountNanos : availableNanosOf(own);
    if (!canPay) values[':shards'] = shardsOf(own);
  }
  return {
    Update: {
      TableName: table,
      Key: { id: own.id },
      UpdateExpression: 'SET avail = if_not_exists(avail, :zero) + :amount, grants = :number',
      ConditionExpression: clauses.join(' AND '),
      ExpressionAttributeValues: values,
    },
  };
};
