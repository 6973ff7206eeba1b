import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { AwsError } from '../http/json-api.ts';
import { closeServer, listen } from '../http/listen.ts';
import { withOutages } from '../http/outage.ts';
import { readBody } from '../http/read-body.ts';
import { createBackend } from './backend.ts';
import { internalError, invalidParameter } from './errors.ts';
import type { RuleContext } from './rule.ts';
import { createRules, isOfCustomAuth } from './rules.ts';

const MAX_REQUEST_BYTES = 131_072;
const KEYS_TIMEOUT_MS = 5_000;

// Functions call this proxy instead of cognito-local.
interface Front {
  /** For AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER; `/<pool id>/.well-known/jwks.json` has the token keys. */
  url: string;
  /** Resolves when all pending calls have finished. */
  close(): Promise<void>;
}

interface FrontOptions extends Omit<RuleContext, 'backend'> {
  /** URL of cognito-local. */
  backendUrl: string;
}

/**
 * Starts the proxy that corrects where cognito-local differs from AWS. It handles one call at a time, except sign-ins
 * with a ticket. Its outages are managed at `/control`.
 */
export const startFront = async ({ backendUrl, ...context }: FrontOptions): Promise<Front> => {
  const handle = createRules({ ...context, backend: createBackend(backendUrl) });
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = (action: string, request: unknown): Promise<object> => {
    if (isOfCustomAuth(request)) return handle(action, request);
    const done = last.then(() => handle(action, request));
    last = done.catch(() => undefined);
    return done;
  };
  const server = createServer(
    withOutages((request, response) => {
      const serving = request.method === 'GET' ? serveKeys(backendUrl, request, response) : serveCall(enqueue, request, response);
      serving.catch(() => response.destroy());
    }),
  );
  return {
    url: await listen(server, 0),
    async close() {
      await closeServer(server);
      await last;
    },
  };
};

const serveKeys = async (backendUrl: string, { url = '' }: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (!/^\/[\w-]+\/\.well-known\/jwks\.json$/.test(url)) {
    send(response, 404, { message: 'Not found' });
    return;
  }
  const reply = await fetch(`${backendUrl}${url}`, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) });
  send(response, reply.status, (await reply.json()) as object);
};

const serveCall = async (
  handle: (action: string, request: unknown) => Promise<object>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const body = await readBody(request, MAX_REQUEST_BYTES);
  const [, action = ''] = String(request.headers['x-amz-target']).split('.');
  try {
    if (!body) throw invalidParameter('The request is too large.');
    send(response, 200, await handle(action, parse(body)));
  } catch (error) {
    const fault = error instanceof AwsError ? error : internalError();
    send(response, fault.status, { __type: fault.type, message: fault.message });
  }
};

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new AwsError('SerializationException', 'The request is not JSON.');
  }
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': randomUUID() });
  response.end(JSON.stringify(body));
};
