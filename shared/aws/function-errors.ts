import { ServiceUnavailable } from '../http/errors.ts';

/**
 * One of our functions was unreachable, too busy or failed, even after a second attempt: 503. The cause is for the
 * log.
 */
export class FunctionUnavailable extends ServiceUnavailable {}

/** An event is larger than one function can send to another. Retries don't help. */
export class PayloadTooLarge extends Error {
  override readonly name = 'PayloadTooLarge';
}

/** An error that a function threw, as Lambda reports it: the error's name and message. */
export class FunctionError extends Error {
  constructor(functionName: string, errorType: string, errorMessage: string) {
    super(`The function ${functionName} failed: ${errorType}: ${errorMessage}`);
    this.name = 'FunctionError';
  }
}
