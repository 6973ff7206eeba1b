import { type Caller, createCaller } from './caller.ts';
import { AwsError, DamagedReply } from './errors.ts';
import { FunctionError, FunctionUnavailable, PayloadTooLarge } from './function-errors.ts';

const CONNECT_MS = 2_000;
/** For both attempts together. */
const TOTAL_TIMEOUT_MS = 20_000;
/** The same if nobody waits for the result: Lambda only puts the event into a queue. */
const LATER_TIMEOUT_MS = 5_000;
const MAX_ATTEMPTS = 2;
/** Lambda's own limits for synchronous invocations, and for asynchronous ones. */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;
const MAX_RESULT_BYTES = 6_291_556;
const MAX_LATER_PAYLOAD_BYTES = 1024 * 1024;
const MAX_SOCKETS = 256;

const createLambdaCaller = (silenceMs: number): Caller =>
  createCaller({ service: 'lambda', connectMs: CONNECT_MS, silenceMs, maxReplyBytes: MAX_RESULT_BYTES, maxSockets: MAX_SOCKETS });

/** A call of `Invoke`. @throws PayloadTooLarge */
const toCall = (functionName: string, payload: unknown, type: 'RequestResponse' | 'Event') => {
  const body = JSON.stringify(payload);
  const [most, timeoutMs] = type === 'Event' ? [MAX_LATER_PAYLOAD_BYTES, LATER_TIMEOUT_MS] : [MAX_PAYLOAD_BYTES, TOTAL_TIMEOUT_MS];
  const bytes = Buffer.byteLength(body);
  if (bytes > most) throw new PayloadTooLarge(`The event for ${functionName} has ${bytes} bytes, more than ${most}.`);
  return {
    path: `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`,
    headers: [
      ['content-type', 'application/json'],
      ['x-amz-invocation-type', type],
    ],
    body,
    signal: AbortSignal.timeout(timeoutMs),
  } as const;
};

const readThrown = (body: string): { errorType?: string; errorMessage?: string } => {
  try {
    return JSON.parse(body) as { errorType?: string; errorMessage?: string };
  } catch {
    return { errorMessage: body };
  }
};

/** Reads a function's result. @throws FunctionError if the function threw */
const readResult =
  (functionName: string) =>
  ({ head, body }: Parameters<Parameters<Caller['call']>[2]>[0]): unknown => {
    const text = body.toString();
    if (head.headers['x-amz-function-error']) {
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
const withName = (functionName: string, error: unknown): unknown =>
  error instanceof AwsError
    ? new Error(`Lambda answered ${error.status} to an invocation of ${functionName}: ${error.message}`, { cause: error })
    : error;

/**
 * Invokes one of our functions and waits for its result, with Lambda's API `Invoke`
 * (https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html).
 * Only for idempotent functions: a broken connection, a 429 and a 5XX are retried once.
 * @param functionName a name or an ARN
 * @param payload the function's event, up to 6 MB of JSON
 * @returns the function's result
 * @throws PayloadTooLarge for more than 6 MB
 * @throws FunctionUnavailable for all other failures; its cause is a FunctionError if the function itself threw
 */
export type InvokeFunction = (functionName: string, payload: unknown) => Promise<unknown>;

/** Region, credentials and endpoint come from the environment. Connections are kept alive. */
export const createInvokeFunction = (): InvokeFunction => {
  const caller = createLambdaCaller(TOTAL_TIMEOUT_MS);
  return async (functionName, payload) => {
    const call = toCall(functionName, payload, 'RequestResponse');
    try {
      return await caller.call(call, MAX_ATTEMPTS, readResult(functionName));
    } catch (error) {
      throw new FunctionUnavailable(withName(functionName, error));
    }
  };
};

/**
 * Has one of our functions invoked soon, without waiting for it: Lambda retries it twice if it fails. Only for idempotent functions: if a reply is
 * lost, the event is sent twice.
 * @param functionName a name or an ARN
 * @param payload the function's event, up to 1 MB of JSON
 * @throws PayloadTooLarge for more than 1 MB
 * @throws FunctionUnavailable if Lambda did not accept the event in two attempts
 */
export type InvokeLater = (functionName: string, payload: unknown) => Promise<void>;

/** Region, credentials and endpoint come from the environment. Connections are kept alive. */
export const createInvokeLater = (): InvokeLater => {
  const caller = createLambdaCaller(LATER_TIMEOUT_MS);
  return async (functionName, payload) => {
    const call = toCall(functionName, payload, 'Event');
    try {
      await caller.call(call, MAX_ATTEMPTS, () => undefined);
    } catch (error) {
      throw new FunctionUnavailable(withName(functionName, error));
    }
  };
};
