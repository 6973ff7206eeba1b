import { connect, createServer, type Socket } from 'node:net';
import type { AwsCredentials } from '../../../shared/aws/credentials.ts';
import { corrupt, headLength, type Place, placeIn } from './byte-places.ts';
import { signatureFault } from './verify-signature.ts';

// `cut`: the connection breaks at this place. `stall`: nothing follows it. `corrupt`: one bit of it is flipped.
const FAULT_KINDS = ['cut', 'stall', 'corrupt'] as const;
export interface ByteFault {
  kind: (typeof FAULT_KINDS)[number];
  place: Place;
}

export interface Exchange {
  /** The `x-amz-target` without its prefix, such as `GetItem`, or else the path. */
  operation: string;
  /** From 1, counting all exchanges of the proxy. */
  number: number;
}

export interface ByteFaultOptions {
  random: () => number;
  /** The fault of an exchange, if it has one. */
  faultOf: (exchange: Exchange) => ByteFault | undefined;
  /** Rejects requests with other signatures, as AWS does. */
  credentials: AwsCredentials;
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * A proxy before an emulator that loses, delays and corrupts bytes of requests and replies. Its connections are kept
 * alive.
 */
export const startByteFaultProxy = async (emulatorUrl: string, options: ByteFaultOptions) => {
  const { hostname, port } = new URL(emulatorUrl);
  const sockets = new Set<Socket>();
  const connections = new Set<Socket>();
  let exchanges = 0;
  let { faultOf } = options;

  /** The emulator's whole reply. When the caller leaves, the emulator sees it too. */
  const ask = (request: Buffer, caller: Socket): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const upstream = connect(Number(port), hostname);
      track(upstream);
      const parts: Buffer[] = [];
      const leave = (): void => void upstream.destroy();
      caller.once('close', leave);
      upstream.on('data', (part) => parts.push(part));
      upstream.once('error', reject);
      upstream.once('close', () => {
        caller.off('close', leave);
        resolve(Buffer.concat(parts));
      });
      upstream.write(request);
    });

  const serve = async (caller: Socket, request: Buffer): Promise<void> => {
    const { operation } = readRequest(request);
    const fault = faultOf({ operation, number: ++exchanges });
    const isOfRequest = fault?.place.startsWith('request ') ?? false;
    const at = fault && isOfRequest ? placeIn(request, fault.place, options.random) : 0;
    const arrived = fault?.kind === 'corrupt' && isOfRequest ? corrupt(request, at, options.random) : request;
    if (isOfRequest && fault?.kind !== 'corrupt') {
      const rest = ask(request.subarray(0, at), caller).catch(() => undefined);
      if (fault?.kind === 'cut') caller.destroy();
      return void (await rest);
    }
    // Requests that arrive as they were sent have the right signature.
    const isRejected = arrived !== request && signatureFault(readRequest(arrived), options.credentials, Date.now()) !== undefined;
    const answer = isRejected && isComplete(arrived) ? rejection() : await ask(closing(arrived), caller);
    const reply = keptAlive(answer);
    if (!fault || isOfRequest) return void caller.write(reply);
    const place = placeIn(reply, fault.place, options.random);
    if (fault.kind === 'corrupt') return void caller.write(corrupt(reply, place, options.random));
    caller.write(reply.subarray(0, place), () => fault.kind === 'cut' && caller.destroy());
  };

  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  };

  const server = createServer((caller) => {
    track(caller);
    connections.add(caller);
    let arrived = Buffer.alloc(0);
    caller.on('data', (part) => {
      arrived = Buffer.concat([arrived, part]);
      if (arrived.length > MAX_MESSAGE_BYTES) return void caller.destroy();
      if (!isComplete(arrived)) return;
      const request = arrived;
      arrived = Buffer.alloc(0);
      serve(caller, request).catch(() => caller.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    /** The number of connections that callers have opened. */
    connections: () => connections.size,
    exchanges: () => exchanges,
    setFaults: (next: ByteFaultOptions['faultOf']): void => {
      faultOf = next;
    },
    close: async (): Promise<void> => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

export type ByteFaultProxy = Awaited<ReturnType<typeof startByteFaultProxy>>;

const rejection = (): Buffer => {
  const body = '{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"The signature does not match."}';
  return Buffer.from(`HTTP/1.1 403 Forbidden\r\ndate: ${new Date().toUTCString()}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
};

const readRequest = (request: Buffer) => {
  const [line = '', ...lines] = request.toString('latin1', 0, headLength(request)).split('\r\n');
  const [method = '', path = ''] = line.split(' ');
  const headers: Record<string, string> = {};
  for (const header of lines) {
    const colon = header.indexOf(':');
    if (colon > 0) headers[header.slice(0, colon).toLowerCase()] = header.slice(colon + 1).trim();
  }
  const operation = headers['x-amz-target']?.split('.')[1] ?? path;
  return { method, path, headers, operation, body: request.toString('utf8', headLength(request)) };
};

const isComplete = (request: Buffer): boolean => {
  const head = headLength(request);
  return head !== undefined && request.length >= head + Number(readRequest(request).headers['content-length'] ?? 0);
};

// The emulator closes the connection after its reply, which is how the proxy knows that the reply is complete. A fault
// can hit the header that says so.
const closing = (request: Buffer): Buffer => {
  const text = request.toString('latin1');
  const closed = text.replace(/connection: keep-alive/i, 'connection: close');
  return Buffer.from(closed === text ? text.replace('\r\n', '\r\nconnection: close\r\n') : closed, 'latin1');
};
const keptAlive = (reply: Buffer): Buffer =>
  Buffer.from(reply.toString('latin1').replace(/connection: close/i, 'connection: keep-alive'), 'latin1');
