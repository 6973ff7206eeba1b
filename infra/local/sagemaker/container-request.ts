import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Where an endpoint's container is. */
export interface ContainerTarget {
  /** Without a path. */
  readonly url: string;
  /** `/invocations`, or `/v1/chat/completions` of a server that is not a SageMaker container. */
  readonly path: string;
  /** The inference component that it runs in; without one the endpoint is a plain one. */
  readonly component?: string;
  /** What the control API says of the endpoint, and of its component: InService unless it is given, whatever an invocation gets. */
  readonly status?: DeploymentStatus;
  readonly componentStatus?: DeploymentStatus;
  /** By key; unless they are given, the tag that lets Sluice invoke it. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly componentTags?: Readonly<Record<string, string>>;
}

/** What both an endpoint and an inference component can be. */
type DeploymentStatus = 'InService' | 'Creating' | 'Updating' | 'Failed' | 'Deleting';

interface ContainerCall {
  readonly request: ClientRequest;
  /** Rejects when the container cannot be reached, or ends the connection before its answer. */
  readonly response: Promise<IncomingMessage>;
}

const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };

const CUSTOM_ATTRIBUTES = 'x-amzn-sagemaker-custom-attributes';

/** Posts a payload to a container with those headers that SageMaker passes on. */
export const callContainer = ({ url, path }: ContainerTarget, received: IncomingHttpHeaders, payload: Buffer): ContainerCall => {
  const target = new URL(url.replace(/\/$/, '') + path);
  const attributes = received[CUSTOM_ATTRIBUTES];
  const options = {
    method: 'POST',
    headers: {
      'content-type': received['content-type'] ?? 'application/octet-stream',
      accept: received['x-amzn-sagemaker-accept'] ?? '*/*',
      'content-length': payload.length,
      ...(attributes !== undefined && { [CUSTOM_ATTRIBUTES]: attributes }),
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
