import { ApiError, ServiceUnavailable } from '../http/errors.ts';

/** One of our functions was unreachable, too busy or failed, even after a second attempt: 503. The cause is for the log. */
export class FunctionUnavailable extends ServiceUnavailable {}

/** A request is larger than one function can send to another: 413. Retries don't help. */
export class PayloadTooLarge extends ApiError {
  constructor() {
    super({
      status: 413,
      type: 'invalid_request_error',
      code: 'request_too_large',
      message:
        'The messages are too large to count: together with tools and tool call arguments, they can have about 6 MB at most. Shorten them.',
    });
  }
}

/** An error that a function threw, as Lambda reports it: the error's name and message. */
export class FunctionError extends Error {
  constructor(functionName: string, errorType: string, errorMessage: string) {
    super(`The function ${functionName} failed: ${errorType}: ${errorMessage}`);
    this.name = 'FunctionError';
  }
}
