import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createPayloadPlaces } from '../../../shared/payload-log/payload-places.ts';
import { createPutObject } from '../../../shared/payload-log/put-object.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { createSendPayload } from '../../../shared/payload-log/waiting-payloads.ts';
import { createWritePayload } from '../../../shared/payload-log/write-payload.ts';
import { createPayloadLog, type LogPayload } from './payload-log.ts';

interface Places {
  /** The table `Observability`. */
  table: string;
  bucket: string;
  queueUrl: string;
}

/** The payload log with its settings in a table, payloads in a bucket, and a queue of those that are redacted later. */
export const createDatabasePayloadLog = (database: Database, { table, bucket, queueUrl }: Places): LogPayload => {
  const put = createPutObject(bucket);
  return createPayloadLog({
    settings: createPayloadLogStore(createRecordTable(database, table)),
    write: createWritePayload(put),
    put,
    waiting: createPayloadPlaces(database, table),
    send: createSendPayload(queueUrl),
    now: Date.now,
  });
};
