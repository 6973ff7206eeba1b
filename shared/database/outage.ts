import { setTimeout as delay } from 'node:timers/promises';
import { isConnectionError } from '../aws/errors.ts';
import { ServiceUnavailable } from '../http/errors.ts';

/** DynamoDB was unreachable or too busy, even after the client's retries: 503. The cause is for the log. */
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

// A failure because of the call itself, and not of the database's state, is our bug.
const isOutage = (error: unknown): boolean => {
  const { name, status, $metadata } = error as { name?: string; status?: number; $metadata?: { httpStatusCode?: number } };
  return NAMES.has(name ?? '') || isConnectionError(error) || (status ?? $metadata?.httpStatusCode ?? 0) >= FIRST_SERVER_STATUS;
};

// DynamoDB rejects a plain write during a transaction on the same item; clients do not retry it.
const MAX_CONFLICTS = 3;
const CONFLICT_WAIT_MS = 20;

const isConflict = (error: unknown): boolean => (error as { name?: string }).name === 'TransactionConflictException';

/**
 * Makes a call and retries it after a conflict. An outage becomes DatabaseUnavailable; other errors are rethrown.
 * @param toOurs converts the client's errors
 */
export const orUnavailable = async <Result>(call: () => Promise<Result>, toOurs: (error: unknown) => unknown): Promise<Result> => {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await call();
    } catch (thrown) {
      const error = toOurs(thrown);
      if (!isConflict(error) || conflicts > MAX_CONFLICTS) throw isOutage(error) ? new DatabaseUnavailable(error) : error;
      await delay(CONFLICT_WAIT_MS * conflicts * (1 + Math.random()));
    }
  }
};
