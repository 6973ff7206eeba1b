import { setTimeout as delay } from 'node:timers/promises';
import { ServiceUnavailable } from '../http/errors.ts';

/** DynamoDB could not be reached or was too busy, also after the SDK's retries: 503. The cause is for the log. */
export class DatabaseUnavailable extends ServiceUnavailable {}

const NAMES = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'TransactionConflictException',
  'TransactionInProgressException',
  'InternalServerError',
  'ServiceUnavailable',
  'TimeoutError',
  'AbortError',
]);
const FIRST_SERVER_STATUS = 500;

/** Whether a failed call speaks of the database's state and not of the call; what is wrong with the call is our bug. */
const isOutage = (error: unknown): boolean => {
  const { name, code, $metadata } = error as { name?: string; code?: unknown; $metadata?: { httpStatusCode?: number } };
  const isNetwork = typeof code === 'string' && /^E[A-Z]+/.test(code);
  return NAMES.has(name ?? '') || isNetwork || ($metadata?.httpStatusCode ?? 0) >= FIRST_SERVER_STATUS;
};

/** A plain write beside a transaction on the same item is refused at once, which the SDK does not retry. */
const MAX_CONFLICTS = 3;
const CONFLICT_WAIT_MS = 20;

const isConflict = (error: unknown): boolean => (error as { name?: string }).name === 'TransactionConflictException';

/** Makes a call, again after a conflict; an outage becomes DatabaseUnavailable, anything else stays what it is. */
export const orUnavailable = async <Result>(call: () => Promise<Result>): Promise<Result> => {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await call();
    } catch (error) {
      if (!isConflict(error) || conflicts > MAX_CONFLICTS) throw isOutage(error) ? new DatabaseUnavailable(error) : error;
      await delay(CONFLICT_WAIT_MS * conflicts * (1 + Math.random()));
    }
  }
};
