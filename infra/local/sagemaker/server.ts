import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { ServiceEvent } from '../event-bus.ts';
import { collect } from '../http/collect.ts';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import { serveSettings } from '../http/serve-settings.ts';
import type { LogGroup } from '../logs/log-groups.ts';
import { type Account, createAccount } from './account.ts';
import { createCutter } from './chunk-cuts.ts';
import { type ComponentContainers, createComponentContainers, type StartContainer } from './component-containers.ts';
import { type ContainerTarget, callContainer, loadAdapter } from './container-request.ts';
import { serveControlApi } from './control-api.ts';
import {
  componentMismatch,
  endpointNotFound,
  faultError,
  invocationTimedOut,
  modelError,
  NO_CAPACITY,
  payloadTooLarge,
  type WireError,
} from './errors.ts';
import { type ClaimedFault, createSettings, type SettingsHolder } from './invocation-settings.ts';
import { deploymentSettings, invocationSettings } from './managed-settings.ts';
import { streamParts } from './stream-parts.ts';

const MAX_PAYLOAD_BYTES = 26_214_400;
const MAX_REPLY_BYTES = 26_214_400;
const MAX_ERROR_BYTES = 1_048_576;
const PLAIN_TIMEOUT_MS = 60_000;

// How often states change while there are no calls.
const TICK_MS = 50;
// Most runs have no endpoints beside those of the demo.
const IDLE_TICK_MS = 1_000;

export interface SageMakerEmulator {
  /**
   * For AWS_ENDPOINT_URL_ with SAGEMAKER_RUNTIME, SAGEMAKER, APPLICATION_AUTO_SCALING, CLOUDWATCH_LOGS,
   * SERVICE_QUOTAS and SECRETS_MANAGER. `PUT`, `GET` and `DELETE` manage the settings of invocations at `/control`,
   * those of deployments at `/control/deployments`. `GET` lists the containers of components at
   * `/control/containers`. `DELETE` closes the connections that no call is using at `/control/idle-connections`, as AWS
   * does after minutes.
   */
  url: string;
  /** The account of the control planes. */
  account: Account;
  /** Also stops the containers of components. */
  close(): Promise<void>;
}

interface SageMakerOptions {
  /** Starts the container of a component. Without it, components are in service, and their invocations fail. */
  startContainer?: StartContainer;
  /** Log groups beside those of containers. */
  logGroups?: readonly LogGroup[];
  /** Keeps the secrets of Secrets Manager. Default: they are in memory. */
  secretsFile?: string | undefined;
  /** Receives the events that SageMaker sends to EventBridge. */
  onEvent?: (event: ServiceEvent) => void;
  /** The longest time of an InvokeEndpoint, to the end of the container's response. Default: SageMaker's 60 seconds. */
  invocationTimeoutMs?: number;
}

interface Call {
  endpoint: string;
  target: ContainerTarget;
  payload: Buffer;
  request: IncomingMessage;
  response: ServerResponse;
  settings: SettingsHolder;
  invocationTimeoutMs: number;
}

interface EmulatedResources {
  endpoints: ReadonlyMap<string, ContainerTarget>;
  account: Account;
  containers: ComponentContainers;
  settings: SettingsHolder;
  invocationTimeoutMs: number;
}

/**
 * Starts an emulator of SageMaker's runtime API (InvokeEndpoint, InvokeEndpointWithResponseStream) and of the control
 * planes that deployments need.
 * @param endpoints containers by endpoint name; read for each request, so endpoints can be added later. They exist
 * beside those that callers create
 */
export const startSageMaker = async (
  endpoints: ReadonlyMap<string, ContainerTarget>,
  { startContainer, logGroups = [], secretsFile, onEvent, invocationTimeoutMs = PLAIN_TIMEOUT_MS }: SageMakerOptions = {},
): Promise<SageMakerEmulator> => {
  const account = createAccount({ now: Date.now, logGroups, secretsFile, ...(onEvent && { onEvent }) });
  const containers = createComponentContainers(startContainer);
  const emulated: EmulatedResources = { endpoints, account, containers, settings: createSettings(), invocationTimeoutMs };
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const tick = (): void => {
    clearTimeout(timer);
    if (isClosed) return;
    account.advance();
    containers.follow(account.serving());
    timer = setTimeout(tick, account.isIdle() ? IDLE_TICK_MS : TICK_MS).unref();
  };
  tick();
  const server = createServer((request, response) => {
    if (request.method === 'DELETE' && request.url === '/control/idle-connections') {
      server.closeIdleConnections();
      return void response.writeHead(204).end();
    }
    serve(emulated, request, response)
      .then(tick)
      .catch(() => response.destroy());
  });
  server.requestTimeout = 0;
  return {
    url: await listen(server, 0),
    account,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await closeServer(server);
      await containers.close();
    },
  };
};

const COMPONENT = 'x-amzn-sagemaker-inference-component';
const OPERATION = 'x-amz-target';
const NOTHING = Buffer.alloc(0);

const serve = async (emulated: EmulatedResources, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { account, settings, invocationTimeoutMs } = emulated;
  const payload = await readBody(request, MAX_PAYLOAD_BYTES);
  const method = request.method ?? 'GET';
  if (request.url === '/control') return serveSettings(invocationSettings(settings), method, payload ?? NOTHING, response);
  if (request.url === '/control/deployments') return serveSettings(deploymentSettings(account), method, payload ?? NOTHING, response);
  if (request.url === '/control/containers') return void response.end(JSON.stringify(await emulated.containers.urls()));
  const controlOperation = request.url === '/' && method === 'POST' && request.headers[OPERATION]?.toString();
  if (controlOperation && payload) return serveControlApi(emulated, controlOperation, payload, response);
  const [, name, operation] = /^\/endpoints\/([^/]+)\/(invocations|invocations-response-stream)$/.exec(request.url ?? '') ?? [];
  if (name === undefined || method !== 'POST') {
    return sendError(response, { status: 404, type: 'UnknownOperationException', body: { message: 'Unknown operation' } });
  }
  if (!payload) {
    request.resume();
    return sendError(response, payloadTooLarge(MAX_PAYLOAD_BYTES));
  }
  const endpoint = decodeURIComponent(name);
  const component = request.headers[COMPONENT]?.toString();
  const target = await findTarget(emulated, endpoint, component, response);
  if ('body' in target) return sendError(response, target);
  const call: Call = { endpoint, target, payload, request, response, settings, invocationTimeoutMs };
  await (operation === 'invocations' ? invoke(call) : invokeWithResponseStream(call));
};

// Counts the invocation of a component until its response ends. An error is SageMaker's.
const findTarget = async (
  { endpoints, account, containers }: EmulatedResources,
  endpoint: string,
  component: string | undefined,
  response: ServerResponse,
): Promise<ContainerTarget | WireError> => {
  const known = endpoints.get(endpoint);
  if (known) return component === known.component ? known : componentMismatch(endpoint, known.component, component);
  if (!account.hasEndpoint(endpoint)) return endpointNotFound(endpoint);
  const found = component === undefined ? undefined : account.findServing(endpoint, component);
  if (!found) return componentMismatch(endpoint, '', component);
  containers.follow(account.serving());
  const target = await containers.pick(found);
  if (!target) return NO_CAPACITY;
  const { component: adapter, artifact } = found;
  if (artifact !== undefined && !(await loadAdapter(target, adapter, artifact)))
    return modelError(endpoint, 500, `The container could not load the adapter ${adapter}.`);
  // A caller that disconnected while the container started has no invocation.
  if (!response.closed) response.once('close', account.beginInvocation(found.server));
  return artifact === undefined ? target : { ...target, adapter };
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

// The container's headers, such as a count of tokens, do not reach the caller.
const invoke = async (call: Call): Promise<void> => {
  const { endpoint, response, settings, invocationTimeoutMs } = call;
  const claimed = settings.claim(endpoint, false);
  if (claimed?.at === 'head') return sendFault(call, claimed);
  const isLate = AbortSignal.timeout(invocationTimeoutMs);
  const reply = await containerReply(call, isLate);
  if (!reply) return;
  try {
    const body = await collect(reply, MAX_REPLY_BYTES);
    response.writeHead(200, { ...invocationHeaders(), 'content-type': reply.headers['content-type'] ?? 'application/octet-stream' });
    response.end(body);
  } catch {
    const broken = modelError(endpoint, 500, 'The connection to the model container was broken.');
    sendError(response, isLate.aborted ? invocationTimedOut(endpoint) : broken);
  }
};

const sendFault = ({ endpoint, response }: Call, { kind, fault }: Extract<ClaimedFault, { at: 'head' }>): void => {
  if (kind === 'refuse') response.destroy();
  else sendError(response, faultError(kind, fault, endpoint));
};

// Undefined after sending an error to the caller.
const containerReply = async (call: Call, isLate?: AbortSignal): Promise<IncomingMessage | undefined> => {
  const { endpoint, target, payload, request, response } = call;
  const { request: upstream, response: replied } = callContainer(target, request.headers, payload);
  response.once('close', () => upstream.destroy());
  isLate?.addEventListener('abort', () => upstream.destroy());
  try {
    const reply = await replied;
    const status = reply.statusCode ?? 500;
    if (status < 400) return reply;
    sendError(response, modelError(endpoint, status, (await collect(reply, MAX_ERROR_BYTES)).toString()));
  } catch (error) {
    const failed = modelError(endpoint, 500, error instanceof Error ? error.message : String(error));
    sendError(response, isLate?.aborted ? invocationTimedOut(endpoint) : failed);
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
