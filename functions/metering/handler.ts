import type { SQSBatchResponse } from 'aws-lambda';
import { createLimiterStore } from '../../shared/admission/stores/limiter-store.ts';
import { createSpread } from '../../shared/admission/stores/spread-configuration.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { queueMessages } from '../../shared/middleware/queue-messages.ts';
import { createSettlementQueue } from '../../shared/usage/settlement-queue.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { queuedSettlements } from './queued-settlements.ts';
import { type SweepReport, sweep } from './sweep.ts';

const database = createSdkDatabase();
const keysTable = environmentVariable('KEYS_TABLE');
const limiters = { ...createLimiterStore(database, keysTable), ...createSpread(database, keysTable) };
const usage = createUsageStore(database, environmentVariable('USAGE_TABLE'));
const settlements = createSettlementQueue(environmentVariable('SETTLEMENTS_QUEUE'));

// Without this limit, every request in flight would count as crashed.
const maxInFlightMs = Number(process.env.MAX_IN_FLIGHT_MS);
if (!(maxInFlightMs > 0)) throw new Error('The environment variable MAX_IN_FLIGHT_MS is missing.');

// The run stops this long before its timeout; the next run continues from there.
const RESERVE_MS = 10_000;

/**
 * Has two triggers: the queue of settlements that functions could not make themselves, and the schedule of the sweep.
 */
export const handler = middy<unknown, SweepReport | SQSBatchResponse>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .use(queueMessages(queuedSettlements({ database, limiters, usage, now: Date.now })))
  .handler(async (_event, { hasTime }) => {
    const report = await sweep({ limiters, usage, now: Date.now, maxInFlightMs, settlements, hasTime });
    logInfo('sweep', { ...report });
    return report;
  });
