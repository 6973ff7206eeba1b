import type { TransactItem } from '../database/database.ts';
import { availableNanosOf, type LimiterItem, shardsOf } from './limiter-item.ts';

/** A deduction takes credit from at most this many shards: a transaction has at most 100 writes. */
const MAX_DONORS = 90;

/**
 * The writes of one transaction that adds the grant with this number to an organization's credit. A grant is added to the own item. A deduction, a
 * negative grant, is taken from the shards that have credit; if they don't have enough, the own item's credit becomes negative.
 * @param shards all items of the organization, its own first
 */
export const toGrant = (table: string, shards: readonly LimiterItem[], number: number, amountNanos: bigint): TransactItem[] => {
  const [own, ...others] = shards;
  if (!own) throw new Error('There is no organization to grant credit to.');
  let missing = amountNanos < 0n ? -amountNanos - availableNanosOf(own) : 0n;
  const donors = others.toSorted((one, other) => (availableNanosOf(one) < availableNanosOf(other) ? 1 : -1)).slice(0, MAX_DONORS);
  const taken = donors.flatMap((item): { id: string; amount: bigint }[] => {
    const available = availableNanosOf(item);
    const amount = available < missing ? available : missing;
    if (amount <= 0n) return [];
    missing -= amount;
    return [{ id: item.id, amount }];
  });
  const collected = taken.reduce((sum, { amount }) => sum + amount, 0n);
  // Without shards, nothing else can have the credit, so the write needs no look at it.
  const isShared = amountNanos < 0n && shardsOf(own) > 1;
  return [
    {
      Update: {
        TableName: table,
        Key: { id: own.id },
        UpdateExpression: 'SET avail = if_not_exists(avail, :zero) + :amount, grants = :number',
        ConditionExpression: [
          number === 1 ? 'attribute_exists(id) AND attribute_not_exists(grants)' : 'grants = :before',
          ...(amountNanos < 0n ? [isShared ? 'shards = :shards' : 'attribute_not_exists(shards)'] : []),
        ].join(' AND '),
        ExpressionAttributeValues: {
          ':zero': 0,
          ':amount': amountNanos + collected,
          ':number': number,
          ...(number > 1 && { ':before': number - 1 }),
          ...(isShared && { ':shards': shardsOf(own) }),
        },
      },
    },
    ...taken.map(({ id, amount }) => ({
      Update: {
        TableName: table,
        Key: { id },
        UpdateExpression: 'SET avail = avail - :amount',
        ConditionExpression: 'avail >= :amount',
        ExpressionAttributeValues: { ':amount': amount },
      },
    })),
  ];
};
