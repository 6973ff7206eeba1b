import { ApiError, ServiceUnavailable } from '../http/errors.ts';

/** A function of ours could not be reached, was too busy or failed, also after a second attempt: 503. The cause is for the log. */
export class FunctionUnavailable extends ServiceUnavailable {}

/** A caller's request has become larger than one function can hand to another; no repetition helps. */
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

/** What a function threw, as Lambda tells it: the name and the message of its error. */
export class FunctionError extends Error {
  constructor(functionName: string, errorType: string, errorMessage: string) {
    super(`The function ${functionName} failed: ${errorType}: ${errorMessage}`);
    this.name = 'FunctionError';
  }
}
