import { inParallel, throwFailures } from '../../../../shared/database/in-parallel.ts';
import type { SdkDatabase } from '../../../../shared/database/sdk-database.ts';
import { scan } from '../rebuild/scan.ts';

type Item = Record<string, unknown>;

/** Some items of a table. */
export interface Items {
  table: string;
  /** The attributes of the table's key. */
  key: readonly string[];
  /** Further attributes that `isOwn` reads. */
  reads?: readonly string[];
  isOwn: (item: Item) => boolean;
}

// Pages of 1 MB.
const MAX_ITEM_PAGES = 200_000;
const PARALLEL_WRITES = 10;

/**
 * Calls `each` with the keys of the items that are found by a scan of the whole table, ten at once. @returns how many
 * there were
 */
export const forEachItem = async (
  database: SdkDatabase,
  { table, key, reads = [], isOwn }: Items,
  each: (key: Item) => Promise<unknown>,
): Promise<number> => {
  const names = [...key, ...reads];
  const input = {
    TableName: table,
    ProjectionExpression: names.map((name) => `#${name}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
  };
  let count = 0;
  let batch: Item[] = [];
  const flush = async (): Promise<void> => {
    throwFailures(await inParallel(batch, PARALLEL_WRITES, async (one) => void (await each(one))));
    batch = [];
  };
  for await (const item of scan(database, input, MAX_ITEM_PAGES)) {
    if (!isOwn(item)) continue;
    count++;
    batch.push(Object.fromEntries(key.map((name) => [name, item[name]])));
    if (batch.length === PARALLEL_WRITES) await flush();
  }
  await flush();
  return count;
};

/** Deletes items, or only counts them. @returns how many there were */
export const deleteItems = (database: SdkDatabase, items: Items, isDeleting: boolean): Promise<number> =>
  forEachItem(database, items, async (Key) => (isDeleting ? database.delete({ TableName: items.table, Key }) : undefined));
