import type { Database } from '../../../shared/database/database.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createPayloadPlaces } from '../../../shared/payload-log/payload-places.ts';
import { createPutObject } from '../../../shared/payload-log/put-object.ts';
import { createPayloadLogStore } from '../../../shared/payload-log/settings-store.ts';
import { createSendPayload } from '../../../shared/payload-log/waiting-payloads.ts';
import { createWritePayload } from '../../../shared/payload-log/write-payload.ts';
import { createPayloadLog, type LogPayload } from './payload-log.ts';

interface Places {
  table: string;
  bucket: string;
  queueUrl: string;
}

/** Creates the payload log from the database, a bucket, and the queue of payloads that are redacted later. */
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
