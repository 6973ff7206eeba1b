import type { DynamoDBStreamEvent } from 'aws-lambda';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { createCopies } from './copies.ts';
import { copyRecord } from './copy-record.ts';

const copies = createCopies(environmentVariable('AUDIT_COPIES_BUCKET'));

const PARALLEL_COPIES = 16;

/** Copies the new entries in a batch of the audit log's stream. If any fail, Lambda sends the batch again in halves. */
export const handler = middy<DynamoDBStreamEvent, void>()
  .use(originalStacks())
  .handler(async ({ Records }) => {
    throwFailures(await inParallel(Records, PARALLEL_COPIES, (record) => copyRecord(copies, record)));
    logInfo('audit_copied', { records: Records.length });
  });
