import { ServiceUnavailable } from '../http/errors.ts';

/** DynamoDB could not be reached or was too busy, also after the SDK's retries: 503. The cause is for the log. */
export class DatabaseUnavailable extends ServiceUnavailable {
  constructor(cause: unknown) {
    super();
    this.cause = cause;
  }
}

const NAMES = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'TransactionConflictException',
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

/** Awaits a call; an outage becomes DatabaseUnavailable, anything else stays what it is. */
export const orUnavailable = async <Result>(call: Promise<Result>): Promise<Result> => {
  try {
    return await call;
  } catch (error) {
    throw isOutage(error) ? new DatabaseUnavailable(error) : error;
  }
};
