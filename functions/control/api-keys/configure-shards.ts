import type { KeyItem } from '../../../shared/admission/key.ts';
import type { StoredNanos } from '../../../shared/admission/limiter.ts';
import { dayOf, monthOf } from '../../../shared/admission/money.ts';
import { shardId } from '../../../shared/admission/shards.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { nanosOf } from '../../../shared/prices/dollars.ts';
import type { LimiterDesk } from '../limiters/limiter-desk.ts';
import type { StoredApiKey } from './api-key.ts';
import { type CountedNanos, configurationsOf, countedBy, OPTIONAL_CONFIGURATION } from './key-items.ts';

/** More was spent while the parts of a budget were worked out. */
export class Spent extends Error {}

/** What a shard had counted, and must not have passed: else all of them together could spend more than the budget. */
const withBounds = (write: Write, { day, month, total }: Bounds): Write => {
  const update = write.item.Update as NonNullable<typeof write.item.Update>;
  const bounds = [day, month, total].filter((bound) => bound !== undefined);
  const clause = (i: number): string => `(attribute_not_exists(#b${i}) OR #b${i} <= :b${i})`;
  return {
    item: {
      Update: {
        ...update,
        ConditionExpression: [update.ConditionExpression, ...bounds.map((_, i) => clause(i))].join(' AND '),
        ExpressionAttributeNames: {
          ...update.ExpressionAttributeNames,
          ...Object.fromEntries(bounds.map(({ counter }, i) => [`#b${i}`, counter])),
        },
        ExpressionAttributeValues: {
          ...update.ExpressionAttributeValues,
          ...Object.fromEntries(bounds.map(({ nanos }, i) => [`:b${i}`, nanos])),
        },
      },
    },
    refused: () => new Spent(),
  };
};

type Bound = { counter: string; nanos: bigint } | undefined;
interface Bounds {
  day: Bound;
  month: Bound;
  total: Bound;
}

/** Budgets that are not used up yet: what is counted in a shard must be within its part. */
const boundsOf = ({ budgets }: StoredApiKey, configuration: Partial<KeyItem>, counted: CountedNanos, nowMs: number): Bounds => {
  const bound = (budget: string | null, sums: readonly bigint[], counter: string, part: StoredNanos | undefined): Bound => {
    const isLeft = budget !== null && sums.reduce((sum, amount) => sum + amount, 0n) < (nanosOf(budget) ?? 0n);
    return isLeft && part !== undefined ? { counter, nanos: BigInt(part) } : undefined;
  };
  return {
    day: bound(budgets.day, counted.day, `d${dayOf(nowMs)}`, configuration.bud_d),
    month: bound(budgets.month, counted.month, `m${monthOf(nowMs)}`, configuration.bud_m),
    total: bound(budgets.total, counted.total, 'spent', configuration.bud_t),
  };
};

/** The writes that set what is configured in each limiter item of a key, by what it has counted by now. */
export const configureShards = async (limiters: LimiterDesk, key: StoredApiKey, nowMs: number): Promise<Write[]> => {
  const items = await Promise.all(Array.from({ length: key.shards }, (_, shard) => limiters.get(shardId(key.id, shard))));
  const counted = countedBy(
    items.filter((item) => item !== undefined),
    nowMs,
  );
  return configurationsOf(key, counted).map(({ id, ...configuration }) => {
    const removed = OPTIONAL_CONFIGURATION.filter((name) => configuration[name] === undefined);
    return withBounds(limiters.toConfigure<KeyItem>(id, configuration, removed), boundsOf(key, configuration, counted, nowMs));
  });
};
