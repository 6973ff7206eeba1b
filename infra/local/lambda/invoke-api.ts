import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { collect } from '../http/collect.ts';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import { type ManagedSettings, serveSettings } from '../http/serve-settings.ts';
import type { AsyncInvocations } from './async-invocations.ts';
import { FunctionNotFound, type FunctionSet } from './function-set.ts';
import { InvocationFailed } from './invocation.ts';

const MAX_EVENT_BYTES = 6_291_556;
const MAX_RESULT_BYTES = 6_291_556;
// Lambda puts these events into a queue, and so takes smaller ones.
const MAX_LATER_EVENT_BYTES = 1_048_576;

export interface InvokeApi {
  url: string;
  close(): Promise<void>;
}

interface InvokeResponse {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body: Buffer | string;
}

interface Functions extends Pick<FunctionSet, 'start' | 'exists'> {
  later: AsyncInvocations['add'];
}

/**
 * Starts Lambda's Invoke API, for the invocation types RequestResponse and Event
 * (https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html). The function keeps running if its caller
 * disconnects. `PUT`, `GET` and `DELETE` manage settings of the functions at paths of their own.
 * @param settings by path, such as `/clock`
 */
export const startInvokeApi = async (functions: Functions, settings: ReadonlyMap<string, ManagedSettings<object>>): Promise<InvokeApi> => {
  const server = createServer((request, response) => {
    const managed = settings.get(request.url ?? '');
    const serving = managed ? serveManaged(managed, request, response) : serve(functions, request, response);
    serving.catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  return { url: await listen(server, 0), close: () => closeServer(server) };
};

const serveManaged = async (settings: ManagedSettings<object>, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await readBody(request, MAX_EVENT_BYTES);
  serveSettings(settings, request.method ?? 'GET', body ?? Buffer.alloc(0), response);
};

const serve = async (functions: Functions, request: IncomingMessage, response: ServerResponse): Promise<void> =>
  send(response, await respondTo(functions, request));

const respondTo = async (functions: Functions, request: IncomingMessage): Promise<InvokeResponse> => {
  const event = await readBody(request, MAX_EVENT_BYTES);
  const [, name] = /^\/2015-03-31\/functions\/([^/?]+)\/invocations(?:\?|$)/.exec(request.url ?? '') ?? [];
  if (name === undefined || request.method !== 'POST')
    return apiError(404, 'UnknownOperationException', 'The local run supports only Invoke.');
  if (!event) {
    request.resume();
    return tooLarge(MAX_EVENT_BYTES);
  }
  const type = request.headers['x-amz-invocation-type'] ?? 'RequestResponse';
  if (type !== 'RequestResponse' && type !== 'Event')
    return apiError(400, 'InvalidParameterValueException', `The local run supports the types RequestResponse and Event only, not ${type}.`);
  if (!isJson(event)) return apiError(400, 'InvalidRequestContentException', 'Could not parse request body into json.');
  const call = type === 'Event' ? invokeLater : invoke;
  return call(functions, decodeURIComponent(name), event.length > 0 ? event : Buffer.from('{}'));
};

const invokeLater = async ({ exists, later }: Functions, name: string, event: Buffer): Promise<InvokeResponse> => {
  if (!exists(name)) return notFound(name);
  if (event.length > MAX_LATER_EVENT_BYTES) return tooLarge(MAX_LATER_EVENT_BYTES);
  return later(name, event) ? { status: 202, body: '' } : throttled();
};

const invoke = async ({ start }: Functions, name: string, event: Buffer): Promise<InvokeResponse> => {
  try {
    const { requestId, body } = await start(name, event);
    try {
      return { status: 200, headers: { 'x-amzn-requestid': requestId }, body: await collect(body, MAX_RESULT_BYTES) };
    } catch {
      return functionError('Runtime.ExitError', `RequestId: ${requestId} Error: Runtime exited without providing a reason`);
    }
  } catch (error) {
    if (error instanceof FunctionNotFound) return notFound(name);
    if (!(error instanceof InvocationFailed)) throw error;
    return failure(error);
  }
};

const failure = ({ reason, message, thrown }: InvocationFailed): InvokeResponse => {
  switch (reason) {
    case 'throttled':
      return throttled();
    case 'not_reached':
    case 'aborted':
      return apiError(500, 'ServiceException', message);
    case 'timed_out':
      return functionError('Sandbox.Timedout', message);
    case 'died':
      return functionError('Runtime.ExitError', message);
    case 'function_error':
      return functionError(thrown?.errorType ?? 'Error', thrown?.errorMessage ?? message);
  }
};

const notFound = (name: string): InvokeResponse =>
  apiError(404, 'ResourceNotFoundException', `Function not found: ${name}`, { Type: 'User' });

const throttled = (): InvokeResponse =>
  apiError(429, 'TooManyRequestsException', 'Rate Exceeded.', { Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded' });

const tooLarge = (maxBytes: number): InvokeResponse =>
  apiError(413, 'RequestTooLargeException', `Request must be smaller than ${maxBytes} bytes for the InvokeFunction operation`);

const functionError = (errorType: string, errorMessage: string): InvokeResponse => ({
  status: 200,
  headers: { 'x-amz-function-error': 'Unhandled' },
  body: JSON.stringify({ errorType, errorMessage }),
});

const apiError = (status: number, type: string, message: string, facts: object = {}): InvokeResponse => ({
  status,
  headers: { 'x-amzn-errortype': type },
  body: JSON.stringify({ ...facts, message, Message: message }),
});

const isJson = (event: Buffer): boolean => {
  if (event.length === 0) return true;
  try {
    JSON.parse(event.toString());
    return true;
  } catch {
    return false;
  }
};

const send = (response: ServerResponse, { status, headers, body }: InvokeResponse): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amz-executed-version': '$LATEST', ...headers });
  response.end(body);
};
