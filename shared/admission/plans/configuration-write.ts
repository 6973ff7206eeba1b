import type { Write } from '../../database/transaction.ts';
import { type Configuration, type LimiterItem, moneyCountersAt, NOT_COUNTED_AFTER, slotValues } from '../item/limiter-item.ts';
import type { Limits } from '../item/limits.ts';
import type { MovedCounts } from './share-limits.ts';

/** The state in which a change of a limiter's configuration may be written, and the counts that move with it. */
export interface Expected {
  /** The sum over all shards is 0. */
  moved?: MovedCounts | undefined;
  /** The most and the least that it can have counted of its budgets at this time. */
  most?: Limits['budgets'];
  least?: Limits['budgets'];
  atMs?: number;
  /** Its version. */
  cfg?: number;
  /** The number of shards that an organization's own item knows. */
  shards?: number;
}

/** A limiter changed while a change of its configuration was planned. */
export class ChangedMeanwhile extends Error {}

const updateOf = <Item extends LimiterItem>({ set, remove }: Configuration<Item>, expected: Expected, version?: number) => {
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const assignments = Object.entries(set).map(([name, value], i) => {
    names[`#n${i}`] = name;
    values[`:v${i}`] = value;
    return `#n${i} = :v${i}`;
  });
  const removed = remove.map((name, i) => {
    names[`#r${i}`] = name;
    return `#r${i}`;
  });
  // The condition of every admission checks the version.
  values[':cfg'] = version ?? 1;
  if (version !== undefined) assignments.push('cfg = :cfg');
  const add = version === undefined ? ['cfg :cfg'] : [];
  const clauses = ['attribute_exists(id)'];
  for (const [name, amount] of expected.moved?.by ?? []) {
    names[`#${name}`] = name;
    values[`:${name}`] = amount;
    add.push(`#${name} :${name}`);
  }
  if (expected.moved) {
    Object.assign(values, slotValues(expected.moved.slot));
    assignments.push('slot = :slot');
    clauses.push(NOT_COUNTED_AFTER);
  }
  const counters = moneyCountersAt(expected.atMs ?? 0);
  for (const [period, most] of Object.entries(expected.most ?? {})) {
    names[`#${period}`] = counters[period as keyof typeof counters];
    values[`:${period}`] = most;
    clauses.push(most < 0n ? `#${period} <= :${period}` : `(attribute_not_exists(#${period}) OR #${period} <= :${period})`);
  }
  for (const [period, least] of Object.entries(expected.least ?? {})) {
    names[`#${period}`] = counters[period as keyof typeof counters];
    values[`:${period}`] = least;
    clauses.push(least > 0n ? `#${period} >= :${period}` : `(attribute_not_exists(#${period}) OR #${period} >= :${period})`);
  }
  if (expected.cfg !== undefined) {
    values[':expected'] = expected.cfg;
    clauses.push('cfg = :expected');
  }
  if (expected.shards !== undefined && expected.shards > 1) {
    values[':shards'] = expected.shards;
    clauses.push('shards = :shards');
  }
  if (expected.shards === 1) clauses.push('attribute_not_exists(shards)');
  return {
    UpdateExpression: [
      assignments.length > 0 && `SET ${assignments.join(', ')}`,
      removed.length > 0 && `REMOVE ${removed.join(', ')}`,
      add.length > 0 && `ADD ${add.join(', ')}`,
    ]
      .filter(Boolean)
      .join(' '),
    ConditionExpression: clauses.join(' AND '),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ExpressionAttributeValues: values,
  };
};

/**
 * Changes a configuration as one write of a transaction; fails with ChangedMeanwhile if the limiter is not as
 * expected.
 */
export const toConfigure = <Item extends LimiterItem>(
  table: string,
  id: string,
  configuration: Configuration<Item>,
  expected?: Expected,
  version?: number,
): Write => ({
  item: { Update: { TableName: table, Key: { id }, ...updateOf(configuration, expected ?? {}, version) } },
  ...(expected && { refused: () => new ChangedMeanwhile() }),
});

/** Checks a limiter's version as one write of a transaction. */
export const toCheckVersion = (table: string, id: string, cfg: number): Write => ({
  item: {
    ConditionCheck: { TableName: table, Key: { id }, ConditionExpression: 'cfg = :cfg', ExpressionAttributeValues: { ':cfg': cfg } },
  },
  refused: () => new ChangedMeanwhile(),
});
