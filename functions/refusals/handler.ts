import type { CloudWatchLogsEvent } from 'aws-lambda';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { createRefusalStore } from '../../shared/observability/refusal-store.ts';
import { countRefusals } from './count-refusals.ts';
import { readLogBatch } from './log-batch.ts';

const store = createRefusalStore(createSdkDatabase(), environmentVariable('OBSERVABILITY_TABLE'));

/**
 * Counts the refused requests in a batch of log lines. If that fails, Lambda delivers the batch again, and its lines
 * are still counted once.
 */
export const handler = middy<CloudWatchLogsEvent, void>()
  .use(originalStacks())
  .handler(({ awslogs }) => countRefusals(store, readLogBatch(awslogs.data)));
