import type { Database } from '../../../shared/database/database.ts';
import { createAccountTable } from '../../../shared/database/record-table.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { createPayloadLog, type LogPayload } from './payload-log.ts';
import { createPutObject } from './put-object.ts';

/** The payload log with its settings in a table, and payloads in a bucket. */
export const payloadLogOver = (database: Database, table: string, bucket: string): LogPayload =>
  createPayloadLog({ settings: createPayloadLogStore(createAccountTable(database, table)), put: createPutObject(bucket) });
