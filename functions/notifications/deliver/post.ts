import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { AttemptError } from '../../../shared/notifications/delivery.ts';
import type { Networks } from '../../../shared/notifications/networks.ts';
import { hostOf, portOf, urlFault } from '../../../shared/notifications/webhook-url.ts';
import type { ResolveHost } from './resolve-host.ts';

// It includes DNS, connection, TLS and response.
const TOTAL_MS = 10_000;
// The rest of a response is not read.
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The status of a response, or the error if there was none. */
export type PostResult = { status: number; error: null } | { status: null; error: AttemptError };

export interface PostDependencies {
  networks: Networks;
  resolveHost: ResolveHost;
  random: () => number;
  /** Certificate authorities that replace the system's. */
  ca?: string | undefined;
  totalMs?: number;
}

interface Message {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const failure = (error: AttemptError): PostResult => ({ status: null, error });

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

// A part of the response is read, so that the receiver sees it accepted.
const discard = (response: IncomingMessage, done: () => void): void => {
  let bytes = 0;
  response.on('data', ({ length }: Buffer) => {
    bytes += length;
    if (bytes > MAX_RESPONSE_BYTES) done();
  });
  response.once('close', done);
  response.on('error', done);
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

const send = (url: URL, address: string, { headers, body }: Message, signal: AbortSignal, ca?: string): Promise<PostResult> =>
  new Promise((resolve) => {
    const isTls = url.protocol === 'https:';
    const request = (isTls ? https : http).request({
      method: 'POST',
      protocol: url.protocol,
      hostname: hostOf(url),
      port: portOf(url),
      path: url.pathname + url.search,
      lookup: pinned(address),
      // A new connection each time, without an agent that could use a proxy.
      agent: false,
      headers: { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) },
      ...(ca !== undefined && { ca }),
    });
    const hasTlsFailed = watchTls(request, isTls);
    const finish = (result: PostResult): void => {
      signal.removeEventListener('abort', abort);
      resolve(result);
      request.destroy();
    };
    const abort = (): void => finish(failure('timed_out'));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    request.on('error', () => finish(failure(hasTlsFailed() ? 'tls_failed' : 'connection_failed')));
    request.on('response', (response) => {
      const result: PostResult = { status: response.statusCode ?? 0, error: null };
      // The status counts, even if the rest never arrives.
      signal.removeEventListener('abort', abort);
      signal.addEventListener('abort', () => finish(result), { once: true });
      discard(response, () => finish(result));
    });
    request.end(body);
  });

/**
 * Sends a message to a URL that a customer chose. All addresses of its host must be allowed, and the connection goes to
 * one of them. Redirects are not followed, and only the status of the response is used.
 */
export const createPost =
  ({ networks, resolveHost, random, ca, totalMs = TOTAL_MS }: PostDependencies) =>
  async (target: string, message: Message): Promise<PostResult> => {
    const url = URL.parse(target);
    // The parsed URL is checked, because earlier releases stored URLs with tabs and empty user names.
    if (!url || urlFault(networks, url.href) !== undefined) return failure('url_refused');
    const signal = AbortSignal.timeout(totalMs);
    const addresses = await resolveHost(hostOf(url), signal);
    if (addresses.length === 0) return failure(signal.aborted ? 'timed_out' : 'dns_failed');
    if (!addresses.every(networks.isAllowed)) return failure('address_refused');
    // HTTP is allowed only within the deployer's own networks.
    if (url.protocol === 'http:' && !addresses.every(networks.isExempt)) return failure('url_refused');
    return send(url, choose(addresses, random), message, signal, ca);
  };

export type Post = ReturnType<typeof createPost>;
