import type { RuntimeOptions } from './runtime-options.ts';

// Buffered and streamed handlers have this in common.
interface InvocationContext {
  awsRequestId: string;
  callbackWaitsForEmptyEventLoop: boolean;
  functionName: string;
  functionVersion: string;
  invokedFunctionArn: string;
  /** MiB, a string as on Lambda. */
  memoryLimitInMB: string;
  logGroupName: string;
  logStreamName: string;
  /** Milliseconds until the function's timeout. */
  getRemainingTimeInMillis(): number;
}

/** Creates the context object of an invocation, whose time starts now. */
export const invocationContext = (options: RuntimeOptions, requestId: string, remainingMs: number): InvocationContext => {
  const deadline = performance.now() + remainingMs;
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: options.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: options.functionArn,
    memoryLimitInMB: String(options.memoryMiB),
    logGroupName: `/aws/lambda/${options.functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - performance.now())),
  };
};
