import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { Networks } from './networks.ts';
import type { ResolveHost } from './resolve-host.ts';
import { hostOf, portOf, urlFault } from './url-fault.ts';

// The rest of a response is not read.
const MAX_RESPONSE_BYTES = 64 * 1024;

/** Why a request had no response. */
export type RequestError = 'url_refused' | 'address_refused' | 'dns_failed' | 'connection_failed' | 'tls_failed' | 'timed_out';

/** A response, or the error if there was none. */
export type GuardedReply =
  | {
      error: null;
      status: number;
      headers: IncomingHttpHeaders;
      /** At most 64 kB. */
      body: Buffer;
      /** False if the body was too long, broke off or took too long. */
      isComplete: boolean;
    }
  | { error: RequestError };

export interface GuardedRequestDependencies {
  networks: Networks;
  resolveHost: ResolveHost;
  random: () => number;
  /** The time for DNS, connection, TLS and response. */
  totalMs: number;
  /** Certificate authorities that replace the system's. */
  ca?: string | undefined;
}

interface Message {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
}

// Functions without a VPC have no IPv6.
const choose = (addresses: readonly string[], random: () => number): string => {
  const ipv4 = addresses.filter((address) => isIP(address) === 4);
  const candidates = ipv4.length > 0 ? ipv4 : addresses;
  return candidates[Math.floor(random() * candidates.length)] as string;
};

// The connection goes to the checked address, even if DNS changes meanwhile. The name stays in `Host` and in TLS.
const pinned = (address: string): NonNullable<RequestOptions['lookup']> => {
  const family = isIP(address);
  return (_host, { all }, callback) => (all ? callback(null, [{ address, family }]) : callback(null, address, family));
};

// `done` can be called more than once: the first call counts.
const read = (response: IncomingMessage, signal: AbortSignal, done: (reply: GuardedReply) => void): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const finish = (isComplete: boolean): void =>
    done({ error: null, status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks), isComplete });
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) finish(false);
    else chunks.push(chunk);
  });
  response.once('end', () => finish(response.complete));
  response.once('close', () => finish(false));
  response.on('error', () => finish(false));
  signal.addEventListener('abort', () => finish(false), { once: true });
};

const watchTls = (request: ClientRequest, isTls: boolean): (() => boolean) => {
  let isConnected = false;
  let isSecure = !isTls;
  request.once('socket', (socket) => {
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.once('secureConnect', () => {
      isSecure = true;
    });
  });
  return () => isConnected && !isSecure;
};

const send = (url: URL, address: string, message: Message, signal: AbortSignal, ca?: string): Promise<GuardedReply> =>
  new Promise((resolve) => {
    const { method, headers, body } = message;
    const isTls = url.protocol === 'https:';
    const request = (isTls ? https : http).request({
      method,
      protocol: url.protocol,
      hostname: hostOf(url),
      port: portOf(url),
      path: url.pathname + url.search,
      lookup: pinned(address),
      // A new connection each time, without an agent that could use a proxy.
      agent: false,
      headers: { ...headers, connection: 'close', ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      ...(ca !== undefined && { ca }),
    });
    const hasTlsFailed = watchTls(request, isTls);
    const finish = (reply: GuardedReply): void => {
      signal.removeEventListener('abort', abort);
      resolve(reply);
      request.destroy();
    };
    const abort = (): void => finish({ error: 'timed_out' });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    request.on('error', () => finish({ error: hasTlsFailed() ? 'tls_failed' : 'connection_failed' }));
    // Without a listener, the request would neither have a response nor fail.
    request.on('upgrade', ({ statusCode = 0, headers: switched }) =>
      finish({ error: null, status: statusCode, headers: switched, body: Buffer.alloc(0), isComplete: false }),
    );
    request.on('response', (response) => {
      // The status counts, even if the rest never arrives.
      signal.removeEventListener('abort', abort);
      read(response, signal, finish);
    });
    request.end(body);
  });

/**
 * Sends a request to a URL that a customer chose. All addresses of its host must be allowed, and the connection goes to
 * one of them. Redirects are not followed.
 */
export const createGuardedRequest =
  ({ networks, resolveHost, random, totalMs, ca }: GuardedRequestDependencies) =>
  async (target: string, message: Message): Promise<GuardedReply> => {
    const url = URL.parse(target);
    // The parsed URL is checked, because earlier releases stored URLs with tabs and empty user names.
    if (!url || urlFault(networks, url.href) !== undefined) return { error: 'url_refused' };
    const signal = AbortSignal.timeout(totalMs);
    const addresses = await resolveHost(hostOf(url), signal);
    if (addresses.length === 0) return { error: signal.aborted ? 'timed_out' : 'dns_failed' };
    if (!addresses.every(networks.isAllowed)) return { error: 'address_refused' };
    // HTTP is allowed only within the deployer's own networks.
    if (url.protocol === 'http:' && !addresses.every(networks.isExempt)) return { error: 'url_refused' };
    return send(url, choose(addresses, random), message, signal, ca);
  };

export type GuardedRequest = ReturnType<typeof createGuardedRequest>;
