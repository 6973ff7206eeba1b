import type { Database } from './database.ts';
import { createRecordChanges } from './record-changes.ts';
import { createRecordReads } from './record-reads.ts';
import { createRecordWrites } from './record-writes.ts';

export type { RecordKey } from './record.ts';

/** A DynamoDB table with the keys `account` and `record`. Seven tables have this shape; each store defines its rows. */
export const createRecordTable = (database: Database, table: string) => ({
  ...createRecordReads(database, table),
  ...createRecordWrites(database, table),
  ...createRecordChanges(table),
});

export type RecordTable = ReturnType<typeof createRecordTable>;
