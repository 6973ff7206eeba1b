import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { keyIdOf } from '../../shared/admission/shards.ts';
import type { Database } from '../../shared/database/client.ts';
import { prefixes } from '../../shared/ids/id.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { type KeyShards, type RebuildReport, rebuild } from './rebuild-totals.ts';

/** A million keys or so. */
const MAX_PAGES = 10_000;
/** The clocks of two functions may differ by less than this. */
const CLOCKS_MS = 60_000;

const LimiterFacts = z.object({ id: z.string(), shards: z.int().default(1), last_used: z.int().optional() });

/** The keys that have been used since an instant, by any of their shards. An operator's scan: no request makes one. */
const listKeysUsed = async (database: Database, table: string, sinceMs: number): Promise<KeyShards[]> => {
  const keys = new Map<string, KeyShards & { isUsed: boolean }>();
  let start: Record<string, unknown> | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { Items = [], LastEvaluatedKey } = await database.send(
      new ScanCommand({ TableName: table, ProjectionExpression: 'id, shards, last_used', ...(start && { ExclusiveStartKey: start }) }),
    );
    for (const item of Items) {
      const { id: limiterId, shards, last_used } = LimiterFacts.parse(item);
      if (!limiterId.startsWith(prefixes.key)) continue;
      const id = keyIdOf(limiterId);
      const known = keys.get(id);
      const isUsed = last_used !== undefined && last_used >= sinceMs - CLOCKS_MS;
      keys.set(id, { id, shards: Math.max(known?.shards ?? 1, shards), isUsed: isUsed || (known?.isUsed ?? false) });
    }
    if (!LastEvaluatedKey) return [...keys.values()].filter(({ isUsed }) => isUsed);
    start = LastEvaluatedKey;
  }
  throw new Error(`The table ${table} has more than ${MAX_PAGES} pages.`);
};

/** Makes the totals of a UTC day from its events again and puts right what differs; see `rebuild`. */
export const rebuildTotals = async (database: Database, tables: { keys: string; usage: string }, day: string): Promise<RebuildReport> => {
  const keys = await listKeysUsed(database, tables.keys, Date.parse(day));
  const deps = { usage: createUsageStore(database, tables.usage), rollups: createRollupStore(database, tables.usage) };
  return rebuild(deps, day, keys, Date.now);
};
