import type { Context } from 'aws-lambda';
import { createLimiterStore } from '../../shared/admission/limiter-store.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { type SweepReport, sweep } from './sweep.ts';

const database = createSdkDatabase();
const limiters = createLimiterStore(database, environmentVariable('KEYS_TABLE'));
const usage = createUsageStore(database, environmentVariable('USAGE_TABLE'));

/** Without this limit, every request in flight would count as crashed. */
const maxInFlightMs = Number(process.env.MAX_IN_FLIGHT_MS);
if (!(maxInFlightMs > 0)) throw new Error('The environment variable MAX_IN_FLIGHT_MS is missing.');

/** The run stops this long before its timeout; the next run continues from there. */
const RESERVE_MS = 10_000;

/** The scheduled sweep: settles requests that crashed functions left in flight. */
export const handler = async (_event: unknown, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<SweepReport> => {
  const report = await sweep({
    limiters,
    usage,
    now: Date.now,
    maxInFlightMs,
    onOrphan: ({ requestId, keyId }) =>
      logError('orphaned', 'The function crashed while a request was in flight.', { request_id: requestId, key_id: keyId }),
    hasTime: () => context.getRemainingTimeInMillis() > RESERVE_MS,
  });
  logInfo('sweep', { ...report });
  return report;
};
