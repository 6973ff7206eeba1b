import type { Readable } from 'node:stream';

/** A function that has begun to answer. */
export interface Invocation {
  readonly requestId: string;
  /** What the function writes, as it writes it; it must be read to the end. An error means that the function failed or died. */
  readonly body: Readable;
}

export type InvocationFailure = 'function_error' | 'not_reached' | 'died' | 'timed_out' | 'throttled' | 'aborted';

/** What a handler threw: the name and the message of its error. */
interface Thrown {
  readonly errorType: string;
  readonly errorMessage: string;
}

/** A function that did not answer. The message says why, in the words of the function where it failed by itself. */
export class InvocationFailed extends Error {
  readonly reason: InvocationFailure;
  readonly thrown: Thrown | undefined;

  constructor(functionName: string, reason: InvocationFailure, detail: string, thrown?: Thrown) {
    super(`Function ${functionName}: ${detail}`);
    this.name = 'InvocationFailed';
    this.reason = reason;
    this.thrown = thrown;
  }
}
