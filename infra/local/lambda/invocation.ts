import type { Readable } from 'node:stream';

/** An invocation whose response has started. */
export interface Invocation {
  requestId: string;
  /**
   * The response as the function writes it; it must be read to the end. An error means that the function failed or
   * its process exited.
   */
  body: Readable;
}

export type InvocationFailure = 'function_error' | 'not_reached' | 'died' | 'timed_out' | 'throttled' | 'aborted';

interface ErrorOfHandler {
  errorType: string;
  errorMessage: string;
}

/** An invocation without a response. If the handler threw an error, the message contains it. */
export class InvocationFailed extends Error {
  readonly reason: InvocationFailure;
  readonly thrown: ErrorOfHandler | undefined;

  constructor(functionName: string, reason: InvocationFailure, detail: string, thrown?: ErrorOfHandler) {
    super(`Function ${functionName}: ${detail}`);
    this.name = 'InvocationFailed';
    this.reason = reason;
    this.thrown = thrown;
  }
}
