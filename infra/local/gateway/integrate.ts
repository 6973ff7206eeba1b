import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { RestApi, Route } from '../../assembly/local-app.ts';
import { collect } from '../http/collect.ts';
import type { Invocation } from '../lambda/invocation.ts';
import { isBinary } from './binary-media-types.ts';
import type { GatewayResponseType } from './gateway-response.ts';
import { parseProxyResult } from './parse-reply.ts';
import { replyHeaders } from './reply-headers.ts';
import type { RequestIds } from './request-ids.ts';
import { streamReply } from './stream-reply.ts';

const STREAM_IDLE_TIMEOUT_MS = 300_000;
const MAX_BUFFERED_REPLY_BYTES = 10_485_760;

/**
 * Starts an invocation. Rejects if the function fails before its first byte. Aborting the signal closes the response
 * stream.
 */
export type StartFunction = (functionArn: string, payload: Buffer, signal?: AbortSignal) => Promise<Invocation>;

interface Integration {
  api: RestApi;
  route: Route;
  /** The event as JSON. */
  payload: Buffer;
  response: ServerResponse;
  ids: RequestIds;
  startFunction: StartFunction;
  stopOnDisconnect: boolean;
  log: (line: string) => void;
  refuse(type: GatewayResponseType): void;
}

/**
 * Invokes the function of a route and sends its response, buffered or streamed, within the integration's timeout. A
 * stream also times out after five minutes without a chunk. A failed function becomes INTEGRATION_FAILURE, a timeout
 * INTEGRATION_TIMEOUT; once the head is sent, both close the caller's connection. After a timeout the function keeps
 * running, and its response is discarded.
 */
export const integrate = (integration: Integration): void => {
  const { route, response, refuse, log } = integration;
  const abort = integration.stopOnDisconnect ? new AbortController() : undefined;
  let over = false;
  const finish = (type: GatewayResponseType): void => {
    if (over) return;
    over = true;
    if (response.headersSent) response.destroy();
    else refuse(type);
  };
  const expire = (): void => finish('INTEGRATION_TIMEOUT');
  const total = setTimeout(expire, route.timeoutMs);
  const idle = route.transferMode === 'STREAM' ? setTimeout(expire, STREAM_IDLE_TIMEOUT_MS) : undefined;
  response.once('close', () => {
    over = true;
    clearTimeout(total);
    clearTimeout(idle);
    if (!response.writableFinished) abort?.abort();
  });

  const reply = async (): Promise<void> => {
    const { body } = await integration.startFunction(route.functionArn, integration.payload, abort?.signal);
    if (over) discard(body);
    else if (idle)
      streamReply(body, response, integration.ids, { progressed: () => idle.refresh(), failed: () => finish('INTEGRATION_FAILURE') });
    else sendBuffered(integration, await collect(body, MAX_BUFFERED_REPLY_BYTES), () => over, finish);
  };
  reply().catch((error: unknown) => {
    if (!abort?.signal.aborted) log(`${route.method} ${route.resourcePath}: ${error instanceof Error ? error.message : String(error)}`);
    finish('INTEGRATION_FAILURE');
  });
};

const sendBuffered = (integration: Integration, result: Buffer, over: () => boolean, finish: (type: GatewayResponseType) => void): void => {
  if (over()) return;
  const { api, response, ids } = integration;
  const reply = parseProxyResult(result.toString());
  if (!reply) {
    finish('INTEGRATION_FAILURE');
    return;
  }
  const accepted = response.req.headers.accept?.split(',')[0] ?? '*/*';
  const bytes = Buffer.from(reply.body, reply.isBase64Encoded && isBinary(api.binaryMediaTypes, accepted) ? 'base64' : 'utf8');
  response.writeHead(reply.statusCode, [...replyHeaders(reply, ids), 'Content-Length', String(bytes.length)]);
  response.end(bytes);
};

const discard = (body: Readable): void => {
  body.on('error', () => undefined);
  body.resume();
};
