import { type AwsCaller, createCaller } from './caller.ts';
import {
  CONNECT_MS,
  type InvocationType,
  MAX_INVOKE_ATTEMPTS,
  MAX_SOCKETS,
  readResult,
  timeoutMsOf,
  withName,
  writeEvent,
} from './function-calls.ts';
import { FunctionUnavailable } from './function-errors.ts';

// Lambda's limit.
const MAX_RESULT_BYTES = 6_291_556;

const createLambdaCaller = (type: InvocationType): AwsCaller =>
  createCaller({
    service: 'lambda',
    connectMs: CONNECT_MS,
    silenceMs: timeoutMsOf(type),
    maxReplyBytes: MAX_RESULT_BYTES,
    maxSockets: MAX_SOCKETS,
  });

const toCall = (functionName: string, event: unknown, type: InvocationType) =>
  ({
    path: `/2015-03-31/functions/${encodeURIComponent(functionName)}/invocations`,
    headers: [
      ['content-type', 'application/json'],
      ['x-amz-invocation-type', type],
    ],
    body: writeEvent(functionName, event, type),
    signal: AbortSignal.timeout(timeoutMsOf(type)),
  }) as const;

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
  const caller = createLambdaCaller('RequestResponse');
  return async (functionName, payload) => {
    const call = toCall(functionName, payload, 'RequestResponse');
    try {
      return await caller.call(call, MAX_INVOKE_ATTEMPTS, ({ head, body }) =>
        readResult(functionName, head.header('x-amz-function-error') !== undefined, body.toString()),
      );
    } catch (error) {
      throw new FunctionUnavailable(withName(functionName, error));
    }
  };
};

/**
 * Queues an invocation of one of our functions, without waiting for its result: Lambda retries it twice if it fails.
 * Only for idempotent functions: if a reply is lost, the event is sent twice.
 * @param functionName a name or an ARN
 * @param payload the function's event, up to 1 MB of JSON
 * @throws PayloadTooLarge for more than 1 MB
 * @throws FunctionUnavailable if Lambda did not accept the event in two attempts
 */
export type InvokeLater = (functionName: string, payload: unknown) => Promise<void>;

/** Region, credentials and endpoint come from the environment. Connections are kept alive. */
export const createInvokeLater = (): InvokeLater => {
  const caller = createLambdaCaller('Event');
  return async (functionName, payload) => {
    const call = toCall(functionName, payload, 'Event');
    try {
      await caller.call(call, MAX_INVOKE_ATTEMPTS, () => undefined);
    } catch (error) {
      throw new FunctionUnavailable(withName(functionName, error));
    }
  };
};
