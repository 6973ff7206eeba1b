import { AwsError, DamagedReply } from './errors.ts';
import { FunctionError, PayloadTooLarge } from './function-errors.ts';

/** A client of Lambda gives up an open connection after this. */
export const CONNECT_MS = 2_000;
/** The number of attempts of an invocation. */
export const MAX_INVOKE_ATTEMPTS = 2;
export const MAX_SOCKETS = 256;
const ALL_ATTEMPTS_TIMEOUT_MS = 20_000;
// Nobody waits for the result: Lambda only puts the event into a queue.
const ASYNC_TIMEOUT_MS = 5_000;
// Lambda's limits for synchronous invocations, and for asynchronous ones.
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;
const MAX_LATER_PAYLOAD_BYTES = 1024 * 1024;

export type InvocationType = 'RequestResponse' | 'Event';

/** The most time for all attempts of an invocation together. */
export const timeoutMsOf = (type: InvocationType): number => (type === 'Event' ? ASYNC_TIMEOUT_MS : ALL_ATTEMPTS_TIMEOUT_MS);

/** An event as JSON. @throws PayloadTooLarge */
export const writeEvent = (functionName: string, event: unknown, type: InvocationType): string => {
  const body = JSON.stringify(event);
  const most = type === 'Event' ? MAX_LATER_PAYLOAD_BYTES : MAX_PAYLOAD_BYTES;
  const bytes = Buffer.byteLength(body);
  if (bytes > most) throw new PayloadTooLarge(`The event for ${functionName} has ${bytes} bytes, more than ${most}.`);
  return body;
};

const readThrown = (text: string): { errorType?: string; errorMessage?: string } => {
  try {
    return JSON.parse(text) as { errorType?: string; errorMessage?: string };
  } catch {
    return { errorMessage: text };
  }
};

/** Reads a function's result. @throws FunctionError if the function threw; DamagedReply if it is not JSON */
export const readResult = (functionName: string, hasThrown: boolean, text: string): unknown => {
  if (hasThrown) {
    const { errorType = 'Error', errorMessage = '' } = readThrown(text);
    throw new FunctionError(functionName, errorType, errorMessage);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new DamagedReply(`The result of ${functionName} is not JSON.`);
  }
};

/** Says which function rejected the invocation, for the log. */
export const withName = (functionName: string, error: unknown): unknown =>
  error instanceof AwsError
    ? new Error(`Lambda answered ${error.status} to an invocation of ${functionName}: ${error.message}`, { cause: error })
    : error;
