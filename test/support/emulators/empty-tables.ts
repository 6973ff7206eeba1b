import { forEachItem } from '../../../infra/tools/admin/delete-data/delete-items.ts';
import type { TestDatabase } from './database.ts';

const KEYS = {
  Keys: ['id'],
  Usage: ['usage_bucket', 'usage_event'],
  Accounts: ['account', 'record'],
  Audit: ['account', 'record'],
  Deployments: ['account', 'record'],
} as const;

/** Deletes what earlier tests wrote, for tests of what reads whole tables, which takes longer the more they have. */
export const emptyTables = async ({ sdk, database, tables }: TestDatabase): Promise<void> => {
  for (const [table, key] of Object.entries(KEYS)) {
    const TableName = tables[table] as string;
    await forEachItem(sdk, { table: TableName, key, isOwn: () => true }, (Key) => database.delete({ TableName, Key }));
  }
};
