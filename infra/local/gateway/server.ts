import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { RestApi } from '../../assembly/local-app.ts';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import { type GatewayResponseType, renderGatewayResponse } from './gateway-response.ts';
import { integrate, type StartFunction } from './integrate.ts';
import { matchRoute } from './match-route.ts';
import { proxyEvent, splitTarget } from './proxy-event.ts';
import { gatewayHeaders } from './reply-headers.ts';
import { newRequestIds, type RequestIds } from './request-ids.ts';

// Lambda's limit on the JSON event of a synchronous invocation.
const MAX_EVENT_BYTES = 6_291_556;
const MAX_BODY_BYTES = 10_485_760;
const LINGER_MS = 2_000;
const LINGER_BYTES = 67_108_864;

export interface GatewayOptions {
  api: RestApi;
  /** 0 picks a free port. */
  port: number;
  startFunction: StartFunction;
  /** Stops a function when its caller disconnects. On AWS it keeps running. */
  stopOnDisconnect: boolean;
  /** Receives one line per request: method, path, status, milliseconds. */
  log: (line: string) => void;
}

export interface Gateway {
  url: string;
  /** Closes all connections. */
  close(): Promise<void>;
}

/**
 * Serves a REST API with Lambda proxy integrations on 127.0.0.1, as API Gateway does but without the stage in the URL.
 * @throws Error with code EADDRINUSE if the port is in use
 */
export const startGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const server = createServer((request, response) => {
    const startedAt = performance.now();
    const { pathname } = splitTarget(request.url ?? '/');
    response.once('close', () => {
      const status = response.headersSent ? String(response.statusCode) : '---';
      const note = response.writableFinished ? '' : ' (incomplete)';
      options.log(`${request.method} ${pathname} ${status} ${Math.round(performance.now() - startedAt)} ms${note}`);
    });
    handle(options, request, response).catch((error: unknown) => {
      options.log(`${request.method} ${pathname}: ${error instanceof Error ? error.message : String(error)}`);
      response.destroy();
    });
  });
  // API Gateway limits the time of the integration only.
  server.requestTimeout = 0;
  return { url: await listen(server, options.port), close: () => closeServer(server) };
};

const handle = async (options: GatewayOptions, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { api } = options;
  const ids = newRequestIds();
  const receivedAt = new Date();
  const method = request.method ?? 'GET';
  const target = request.url ?? '/';
  const refuse = (type: GatewayResponseType): void => {
    writeGatewayResponse(api, response, type, ids);
    response.end();
  };

  const match = matchRoute(api.routes, method, splitTarget(target).pathname);
  const body = await readBody(request, MAX_BODY_BYTES);
  if (!body) {
    response.shouldKeepAlive = false;
    writeGatewayResponse(api, response, 'REQUEST_TOO_LARGE', ids);
    return linger(request, response);
  }
  if (!match) return refuse('MISSING_AUTHENTICATION_TOKEN');
  const event = proxyEvent(
    api,
    match,
    {
      method,
      target,
      httpVersion: request.httpVersion,
      rawHeaders: request.rawHeaders,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      port: request.socket.localPort ?? 0,
      body,
      receivedAt,
    },
    ids,
  );
  const payload = Buffer.from(JSON.stringify(event));
  if (payload.length > MAX_EVENT_BYTES) return refuse('REQUEST_TOO_LARGE');
  if (response.destroyed) return;
  integrate({ route: match.route, payload, response, ids, refuse, ...options });
};

const writeGatewayResponse = (api: RestApi, response: ServerResponse, type: GatewayResponseType, ids: RequestIds): void => {
  if (response.headersSent || response.destroyed) return;
  const { statusCode, headers, body } = renderGatewayResponse(api.gatewayResponses, type, ids);
  const bytes = Buffer.from(body);
  response.writeHead(statusCode, [
    ...gatewayHeaders(ids),
    'x-amzn-ErrorType',
    type,
    'content-length',
    String(bytes.length),
    ...headers.flat(),
  ]);
  response.write(bytes);
};

// Closing a socket with unread bytes resets it, and the caller would lose the response. So the rest is read and
// discarded for a while.
const linger = (request: IncomingMessage, response: ServerResponse): void => {
  let discarded = 0;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) end();
  });
  request.once('end', end);
  request.once('close', end);
  request.resume();
};
