import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createCallReader, type ReadCall } from './call-reader.ts';
import type { Check, Denial } from './check.ts';
import type { Call } from './signed-call.ts';

// As S3's emulator accepts.
const MAX_BODY_BYTES = 256 * 1024 * 1024;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

export interface CheckingProxy {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts an endpoint before an emulator that denies the calls which the caller's role does not allow, as AWS does. Each
 * connection has one to the emulator, on which the other calls and all replies pass unchanged.
 * @param onReply called with each call that the emulator answers
 */
export const startCheckingProxy = async (upstream: string, check: Check, onReply?: (call: Call) => void): Promise<CheckingProxy> => {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer({ noDelay: true }, (client) => {
    passCalls({ upstream, check, onReply, track }, track(client));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

interface Passing {
  upstream: string;
  check: Check;
  onReply: ((call: Call) => void) | undefined;
  /** Returns the socket, which is destroyed with the proxy. */
  track: (socket: Socket) => Socket;
}

const passCalls = ({ upstream, check, onReply, track }: Passing, client: Socket): void => {
  const { hostname, port } = new URL(upstream);
  const emulator = track(connect({ host: hostname, port: Number(port || 80), noDelay: true }));
  for (const [socket, other] of [
    [client, emulator],
    [emulator, client],
  ] as const) {
    socket.on('error', () => other.destroy());
    socket.once('close', () => other.destroySoon());
  }
  const unanswered: Call[] = [];
  emulator.on('data', () => {
    for (const call of unanswered.splice(0)) onReply?.(call);
  });
  emulator.pipe(client);

  const pass = async ({ method, target, headers, body, bytes }: ReadCall): Promise<void> => {
    const call = { method, url: new URL(upstream + target), headers, body };
    const denied = await check(call);
    if (denied !== undefined) client.write(denialOf(headers['content-type'] ?? '', denied));
    else {
      unanswered.push(call);
      emulator.write(bytes);
    }
  };
  const read = createCallReader(MAX_BODY_BYTES, () => client.write(CONTINUE));
  let passing = Promise.resolve();
  client.on('data', (chunk: Buffer) => {
    try {
      for (const call of read(chunk)) passing = passing.then(() => pass(call)).catch(() => void client.destroy());
    } catch {
      client.destroy();
    }
  });
};

const denialOf = (requestType: string, { name, message }: Denial): string => {
  const isJson = requestType.includes('json');
  const body = isJson
    ? JSON.stringify({ __type: name, message })
    : `<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`;
  return [
    isJson ? 'HTTP/1.1 400 Bad Request' : 'HTTP/1.1 403 Forbidden',
    `content-type: ${isJson ? 'application/x-amz-json-1.1' : 'application/xml'}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-amzn-errortype: ${name}`,
    '',
    body,
  ].join('\r\n');
};
