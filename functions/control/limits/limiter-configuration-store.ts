import { type Configuration, type LimiterItem, moneyCountersAt } from '../../../shared/admission/limiter-item.ts';
import { createLimiterStore } from '../../../shared/admission/limiter-store.ts';
import type { Limits } from '../../../shared/admission/limits.ts';
import type { Database } from '../../../shared/database/database.ts';
import { getItems } from '../../../shared/database/get-items.ts';
import type { Write } from '../../../shared/database/transaction.ts';

/** The most that a limiter can have counted for a change of its configuration to succeed. */
interface CountBounds {
  nanos: Limits['budgets'];
  atMs: number;
}

/** A limiter has counted more than the bounds of a configuration change. */
export class CountedMore extends Error {}

const updateOf = <Item extends LimiterItem>({ set, remove }: Configuration<Item>, bounds: CountBounds | undefined) => {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = { ':one': 1 };
  const assignments = Object.entries(set).map(([name, value], i) => {
    names[`#n${i}`] = name;
    values[`:v${i}`] = value;
    return `#n${i} = :v${i}`;
  });
  const removed = remove.map((name, i) => {
    names[`#r${i}`] = name;
    return `#r${i}`;
  });
  const counters = moneyCountersAt(bounds?.atMs ?? 0);
  const clauses = Object.entries(bounds?.nanos ?? {}).map(([period, most], i) => {
    names[`#b${i}`] = counters[period as keyof typeof counters];
    values[`:b${i}`] = most;
    return `(attribute_not_exists(#b${i}) OR #b${i} <= :b${i})`;
  });
  return {
    UpdateExpression: [
      assignments.length > 0 && `SET ${assignments.join(', ')}`,
      removed.length > 0 && `REMOVE ${removed.join(', ')}`,
      'ADD cfg :one', // the condition of every admission checks this version
    ]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: ['attribute_exists(id)', ...clauses].join(' AND '),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: values,
  };
};

/** The `keys` table with the writes of the control plane, which configures limiters. */
export const createLimiterConfigurationStore = (database: Database, table: string) => ({
  ...createLimiterStore(database, table),

  /** Changes the configuration as one write of a transaction; fails with CountedMore if the limiter exceeds the bounds. */
  toConfigure: <Item extends LimiterItem>(id: string, configuration: Configuration<Item>, bounds?: CountBounds): Write => ({
    item: { Update: { TableName: table, Key: { id }, ...updateOf(configuration, bounds) } },
    ...(bounds && { refused: () => new CountedMore() }),
  }),

  toCreate: (item: LimiterItem): Write => ({
    item: { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(id)' } },
  }),

  /** The time of each limiter's last admission, in ms since the epoch; limiters without admissions are absent. For at most 100 limiters. */
  lastUses: async (ids: readonly string[]): Promise<Map<string, number>> => {
    const Keys = ids.map((id) => ({ id }));
    const items = await getItems(database, table, { Keys, ProjectionExpression: 'id, last_used' });
    return new Map(items.flatMap(({ id, last_used }) => (last_used === undefined ? [] : [[String(id), Number(last_used)] as const])));
  },
});

export type LimiterConfigurationStore = ReturnType<typeof createLimiterConfigurationStore>;
