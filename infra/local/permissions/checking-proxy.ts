import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import type { Check, Denial } from './check.ts';
import type { Call } from './signed-call.ts';

// As S3's emulator accepts.
const MAX_BODY_BYTES = 256 * 1024 * 1024;

export interface CheckingProxy {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts an endpoint before an emulator that denies the calls which the caller's role does not allow, as AWS does.
 * @param onReply called with each call that the emulator has answered
 */
export const startCheckingProxy = async (upstream: string, check: Check, onReply?: (call: Call) => void): Promise<CheckingProxy> => {
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, response) => {
    pass({ upstream, check, onReply, agent }, incoming, response).catch(() => response.destroy());
  });
  return {
    url: await listen(server, 0),
    close: async () => {
      await closeServer(server);
      agent.destroy();
    },
  };
};

interface Passing {
  upstream: string;
  check: Check;
  onReply: ((call: Call) => void) | undefined;
  agent: Agent;
}

const pass = async ({ upstream, check, onReply, agent }: Passing, incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await readBody(incoming, MAX_BODY_BYTES);
  if (!body) return void response.destroy();
  const { method = 'GET', headers } = incoming;
  const url = new URL(upstream + (incoming.url ?? '/'));
  const call = { method, url, headers, body };
  const denied = await check(call);
  if (denied !== undefined) return deny(response, headers['content-type'] ?? '', denied);
  const { connection: _, expect: __, 'transfer-encoding': ___, ...passed } = headers;
  const outgoing = request(url, { method, agent, headers: { ...passed, 'content-length': body.length } }, (reply) => {
    onReply?.(call);
    response.writeHead(reply.statusCode ?? 502, reply.statusMessage, withoutHops(reply.rawHeaders));
    // Sends the head at once, as the emulator did.
    response.flushHeaders();
    pipeline(reply, response, () => undefined);
  });
  outgoing.once('error', () => response.destroy());
  response.once('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  outgoing.end(body);
};

const HOPS = new Set(['connection', 'keep-alive', 'transfer-encoding']);

// Hop-by-hop headers are of one connection.
const withoutHops = (raw: readonly string[]): string[] =>
  raw.flatMap((name, index) => (index % 2 === 0 && !HOPS.has(name.toLowerCase()) ? [name, raw[index + 1] ?? ''] : []));

const deny = (response: ServerResponse, requestType: string, { name, message }: Denial): void => {
  const isJson = requestType.includes('json');
  const body = isJson
    ? JSON.stringify({ __type: name, message })
    : `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`;
  const type = isJson ? 'application/x-amz-json-1.1' : 'application/xml';
  response.writeHead(isJson ? 400 : 403, { 'content-type': type, 'x-amzn-errortype': name }).end(body);
};
