import { ServiceUnavailable } from '../http/errors.ts';

/** A function of ours could not be reached, was too busy or failed, also after a second attempt: 503. The cause is for the log. */
export class FunctionUnavailable extends ServiceUnavailable {
  constructor(cause: unknown) {
    super();
    this.cause = cause;
  }
}

/** What a function threw, as Lambda tells it: the name and the message of its error. */
export class FunctionError extends Error {
  constructor(functionName: string, errorType: string, errorMessage: string) {
    super(`The function ${functionName} failed: ${errorType}: ${errorMessage}`);
    this.name = 'FunctionError';
  }
}
