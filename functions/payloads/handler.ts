import type { SQSBatchResponse } from 'aws-lambda';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { createPayloadPlaces } from '../../shared/payload-log/payload-places.ts';
import { createPutObject } from '../../shared/payload-log/put-object.ts';
import { createPayloadLogStore } from '../../shared/payload-log/settings-store.ts';
import { createWritePayload } from '../../shared/payload-log/write-payload.ts';
import { redactWaiting } from './redact-waiting.ts';
import { createUnredactedObjects } from './unredacted-objects.ts';

const database = createSdkDatabase();
const table = environmentVariable('OBSERVABILITY_TABLE');
const bucket = environmentVariable('PAYLOADS_BUCKET');

// Work that begins within this time of the timeout could not be finished.
const RESERVE_MS = 20_000;

/** Redacts the payloads of the queue, which are too large for the environments of their requests. */
export const handler = middy<unknown, SQSBatchResponse | undefined>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .use(
    queueMessages(
      redactWaiting({
        settings: createPayloadLogStore(createRecordTable(database, table)),
        objects: createUnredactedObjects(bucket),
        waiting: createPayloadPlaces(database, table),
        write: createWritePayload(createPutObject(bucket)),
      }),
    ),
  )
  .handler(() => {
    throw new Error('The function handles only messages of its queue.');
  });
