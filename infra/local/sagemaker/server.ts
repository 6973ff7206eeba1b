import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { collect } from '../http/collect.ts';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import { type ContainerTarget, callContainer } from './container-request.ts';
import { serveControl } from './control.ts';
import { serveControlApi } from './control-api.ts';
import { createCutter } from './cuts.ts';
import { componentMismatch, endpointNotFound, faultError, modelError, payloadTooLarge, type WireError } from './errors.ts';
import { type ClaimedFault, createSettings, type SettingsHolder } from './settings.ts';
import { streamParts } from './stream-parts.ts';

const MAX_PAYLOAD_BYTES = 26_214_400;
const MAX_REPLY_BYTES = 26_214_400;
const MAX_ERROR_BYTES = 1_048_576;
const PLAIN_TIMEOUT_MS = 60_000;

export interface SageMakerEmulator {
  /** For AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME and AWS_ENDPOINT_URL_SAGEMAKER. `PUT`, `GET` and `DELETE /control` manage its settings. */
  url: string;
  close(): Promise<void>;
}

interface Call {
  endpoint: string;
  target: ContainerTarget;
  payload: Buffer;
  request: IncomingMessage;
  response: ServerResponse;
  settings: SettingsHolder;
}

/**
 * Starts an emulator of SageMaker's runtime API (InvokeEndpoint, InvokeEndpointWithResponseStream) and of its control API for endpoints.
 * @param endpoints containers by endpoint name; read for each request, so endpoints can be added later
 */
export const startSageMaker = async (endpoints: ReadonlyMap<string, ContainerTarget>): Promise<SageMakerEmulator> => {
  const settings = createSettings();
  const server = createServer((request, response) => {
    serve(endpoints, settings, request, response).catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  return { url: await listen(server, 0), close: () => closeServer(server) };
};

const COMPONENT = 'x-amzn-sagemaker-inference-component';
const OPERATION = 'x-amz-target';

const serve = async (
  endpoints: ReadonlyMap<string, ContainerTarget>,
  settings: SettingsHolder,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const payload = await readBody(request, MAX_PAYLOAD_BYTES);
  if (request.url === '/control') return serveControl(settings, request.method ?? 'GET', payload ?? Buffer.alloc(0), response);
  const controlOperation = request.url === '/' && request.method === 'POST' && request.headers[OPERATION]?.toString();
  if (controlOperation && payload) return serveControlApi(endpoints, controlOperation, payload, response);
  const [, name, operation] = /^\/endpoints\/([^/]+)\/(invocations|invocations-response-stream)$/.exec(request.url ?? '') ?? [];
  if (name === undefined || request.method !== 'POST') {
    return sendError(response, { status: 404, type: 'UnknownOperationException', body: { message: 'Unknown operation' } });
  }
  if (!payload) {
    request.resume();
    return sendError(response, payloadTooLarge(MAX_PAYLOAD_BYTES));
  }
  const endpoint = decodeURIComponent(name);
  const target = endpoints.get(endpoint);
  if (!target) return sendError(response, endpointNotFound(endpoint));
  const component = request.headers[COMPONENT];
  if (component !== target.component) return sendError(response, componentMismatch(endpoint, target.component, component?.toString()));
  const call: Call = { endpoint, target, payload, request, response, settings };
  await (operation === 'invocations' ? invoke(call) : invokeWithResponseStream(call));
};

const invokeWithResponseStream = async (call: Call): Promise<void> => {
  const { endpoint, response, settings } = call;
  const claimed = settings.claim(endpoint, true);
  if (claimed?.at === 'head') return sendFault(call, claimed);
  const reply = await containerReply(call);
  if (!reply) return;
  response.writeHead(200, {
    ...invocationHeaders(),
    'content-type': 'application/vnd.amazon.eventstream',
    'X-Amzn-SageMaker-Content-Type': reply.headers['content-type'] ?? 'application/octet-stream',
  });
  response.flushHeaders();
  const { cuts, seed } = settings.get();
  streamParts(reply, response, createCutter(cuts, seed), claimed);
};

const invoke = async (call: Call): Promise<void> => {
  const { endpoint, response, settings } = call;
  const claimed = settings.claim(endpoint, false);
  if (claimed?.at === 'head') return sendFault(call, claimed);
  const reply = await containerReply(call, PLAIN_TIMEOUT_MS);
  if (!reply) return;
  try {
    const body = await collect(reply, MAX_REPLY_BYTES);
    response.writeHead(200, { ...invocationHeaders(), 'content-type': reply.headers['content-type'] ?? 'application/octet-stream' });
    response.end(body);
  } catch {
    sendError(response, modelError(endpoint, 500, 'The connection to the model container was broken.'));
  }
};

const sendFault = ({ endpoint, response }: Call, { kind, fault }: Extract<ClaimedFault, { at: 'head' }>): void => {
  if (kind === 'refuse') response.destroy();
  else sendError(response, faultError(kind, fault, endpoint));
};

/** Returns the container's response, or undefined after sending an error to the caller. */
const containerReply = async (call: Call, timeoutMs?: number): Promise<IncomingMessage | undefined> => {
  const { endpoint, target, payload, request, response } = call;
  const { request: upstream, response: replied } = callContainer(target, request.headers, payload);
  response.once('close', () => upstream.destroy());
  if (timeoutMs !== undefined) upstream.setTimeout(timeoutMs, () => upstream.destroy(new Error('Your invocation timed out')));
  try {
    const reply = await replied;
    const status = reply.statusCode ?? 500;
    if (status < 400) return reply;
    sendError(response, modelError(endpoint, status, (await collect(reply, MAX_ERROR_BYTES)).toString()));
  } catch (error) {
    sendError(response, modelError(endpoint, 500, error instanceof Error ? error.message : String(error)));
  }
  return undefined;
};

const invocationHeaders = (): Record<string, string> => ({
  'x-amzn-RequestId': randomUUID(),
  'x-Amzn-Invoked-Production-Variant': 'AllTraffic',
});

const sendError = (response: ServerResponse, { status, type, body }: WireError): void => {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'x-amzn-RequestId': randomUUID(), 'x-amzn-errortype': type, 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
