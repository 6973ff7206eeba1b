import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { inferenceHostRoutes } from '../../../shared/hosts/inference-routes.ts';

/** The container of an endpoint. */
export interface ContainerTarget {
  /** Without a path. */
  url: string;
  /** `/invocations`; absent for a server with OpenAI's paths, which has a path for each kind of request. */
  path?: string;
  /**
   * Uses a connection for several requests (the default). A server that closes idle connections can close one while it
   * is being used.
   */
  keepsConnections?: boolean;
  /** Its inference component; undefined: the endpoint has none. */
  component?: string;
  /** The adapter whose answers are wanted; undefined: the model's own. */
  adapter?: string;
  /** Status in the control API, by default InService. It does not affect invocations. */
  status?: DeploymentStatus;
  componentStatus?: DeploymentStatus;
  /** Tags by key; the default is the tag that allows Sluice to invoke the endpoint. */
  tags?: Readonly<Record<string, string>>;
  componentTags?: Readonly<Record<string, string>>;
}

// Endpoints and inference components have these in common.
type DeploymentStatus = 'InService' | 'Creating' | 'Updating' | 'Failed' | 'Deleting';

interface ContainerCall {
  request: ClientRequest;
  /** Rejects if the container cannot be reached or closes the connection before it responds. */
  response: Promise<IncomingMessage>;
}

const PLAIN = { http: new HttpAgent(), https: new HttpsAgent() };
const KEPT = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };

const CUSTOM_ATTRIBUTES = 'x-amzn-sagemaker-custom-attributes';
/** Names the adapter of an invocation to the container. */
export const ADAPTER_HEADER = 'x-amzn-sagemaker-adapter-identifier';
const ADAPTERS_PATH = '/adapters';
const LOAD_MS = 10_000;

/**
 * Lets a container load an adapter, before each invocation, because a container that was restarted has none. Returns
 * false if it can't.
 */
export const loadAdapter = async ({ url }: ContainerTarget, name: string, src: string): Promise<boolean> => {
  const body = JSON.stringify({ name, src });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal: AbortSignal.timeout(LOAD_MS) };
  const reply = await fetch(new URL(ADAPTERS_PATH, url), init).catch(() => undefined);
  await reply?.arrayBuffer();
  return reply?.ok ?? false;
};

// Only a completion has a prompt, and only a request for embeddings an input.
const openAiPath = (payload: Buffer): string => {
  const { createChatCompletion, createCompletion, createEmbeddings } = inferenceHostRoutes;
  try {
    const body = JSON.parse(payload.toString()) as object;
    if ('prompt' in body) return createCompletion.path;
    return 'input' in body ? createEmbeddings.path : createChatCompletion.path;
  } catch {
    return createChatCompletion.path;
  }
};

/** Posts a payload to a container with the headers that SageMaker forwards. */
export const callContainer = (
  { url, path, keepsConnections = true, adapter }: ContainerTarget,
  received: IncomingHttpHeaders,
  payload: Buffer,
): ContainerCall => {
  const target = new URL(url.replace(/\/$/, '') + (path ?? openAiPath(payload)));
  const agents = keepsConnections ? KEPT : PLAIN;
  const attributes = received[CUSTOM_ATTRIBUTES];
  const options = {
    method: 'POST',
    headers: {
      'content-type': received['content-type'] ?? 'application/octet-stream',
      accept: received['x-amzn-sagemaker-accept'] ?? '*/*',
      'content-length': payload.length,
      ...(attributes !== undefined && { [CUSTOM_ATTRIBUTES]: attributes }),
      ...(adapter !== undefined && { [ADAPTER_HEADER]: adapter }),
    },
  };
  const request =
    target.protocol === 'https:'
      ? httpsRequest(target, { ...options, agent: agents.https })
      : httpRequest(target, { ...options, agent: agents.http });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', reject);
  });
  request.end(payload);
  return { request, response };
};
