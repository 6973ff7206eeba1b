import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { NodeHttpHandler } from '@smithy/node-http-handler';
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
import type { InvokeFunction, InvokeLater } from './invoke-function.ts';
import { fromSdk } from './sdk-errors.ts';

const createSend = (type: InvocationType) => {
  const client = new LambdaClient({
    maxAttempts: MAX_INVOKE_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    }),
  });
  return async (functionName: string, event: unknown): Promise<{ text: string; hasThrown: boolean }> => {
    const input = { FunctionName: functionName, InvocationType: type, Payload: writeEvent(functionName, event, type) };
    try {
      const { Payload, FunctionError } = await client.send(new InvokeCommand(input), {
        abortSignal: AbortSignal.timeout(timeoutMsOf(type)),
      });
      return { text: Payload?.transformToString() ?? '', hasThrown: FunctionError !== undefined };
    } catch (error) {
      throw new FunctionUnavailable(withName(functionName, fromSdk(error)));
    }
  };
};

/** The same as `createInvokeFunction`, with the AWS SDK. */
export const createSdkInvokeFunction = (): InvokeFunction => {
  const send = createSend('RequestResponse');
  return async (functionName, event) => {
    const { text, hasThrown } = await send(functionName, event);
    try {
      return readResult(functionName, hasThrown, text);
    } catch (error) {
      throw new FunctionUnavailable(error);
    }
  };
};

/** The same as `createInvokeLater`, with the AWS SDK. */
export const createSdkInvokeLater = (): InvokeLater => {
  const send = createSend('Event');
  return async (functionName, event) => void (await send(functionName, event));
};
