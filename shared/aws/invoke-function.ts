import { type Caller, createCaller } from './caller.ts';
import { AwsError, DamagedReply } from './errors.ts';
import { FunctionError, FunctionUnavailable, PayloadTooLarge } from './function-errors.ts';

const CONNECT_MS = 2_000;
/** For both attempts together. */
const TOTAL_TIMEOUT_MS = 20_000;
const MAX_ATTEMPTS = 2;
/** Lambda's own limits for a synchronous invocation. */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;
const MAX_RESULT_BYTES = 6_291_556;
const MAX_SOCKETS = 256;

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
  ({ headers, body }: Parameters<Parameters<Caller['call']>[2]>[0]): unknown => {
    const text = body.toString();
    if (headers['x-amz-function-error']) {
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
  const caller = createCaller({
    service: 'lambda',
    connectMs: CONNECT_MS,
    silenceMs: TOTAL_TIMEOUT_MS,
    maxReplyBytes: MAX_RESULT_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return async (functionName, payload) => {
    const body = JSON.stringify(payload);
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_PAYLOAD_BYTES)
      throw new PayloadTooLarge(`The event for ${functionName} has ${bytes} bytes, more than ${MAX_PAYLOAD_BYTES}.`);
    const call = {
      path: `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`,
      headers: [['content-type', 'application/json']],
      body,
      signal: AbortSignal.timeout(TOTAL_TIMEOUT_MS),
    } as const;
    try {
      return await caller.call(call, MAX_ATTEMPTS, readResult(functionName));
    } catch (error) {
      throw new FunctionUnavailable(withName(functionName, error));
    }
  };
};
