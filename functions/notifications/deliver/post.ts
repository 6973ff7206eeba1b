import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import type { AttemptError } from '../../../shared/notifications/delivery.ts';
import type { Networks } from '../../../shared/notifications/networks.ts';
import { hostOf, portOf, urlFault } from '../../../shared/notifications/webhook-url.ts';
import type { ResolveHost } from './resolve-host.ts';

/** For everything: DNS, connection, TLS and response. */
const TOTAL_MS = 10_000;
/** So much of a response is read, and thrown away. */
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The status of a response, or why there was none. */
export type PostResult = { status: number; error: null } | { status: null; error: AttemptError };

export interface PostDependencies {
  networks: Networks;
  resolveHost: ResolveHost;
  random: () => number;
  /** Certificate authorities instead of the system's. */
  ca?: string | undefined;
  totalMs?: number;
}

interface Message {
  headers: Readonly<Record<string, string>>;
  body: string;
}

const failure = (error: AttemptError): PostResult => ({ status: null, error });

/** Any of the addresses to connect to, IPv4 if there is one: functions without a VPC have no other. */
const choose = (addresses: readonly string[], random: () => number): string => {
  const ipv4 = addresses.filter((address) => isIP(address) === 4);
  const candidates = ipv4.length > 0 ? ipv4 : addresses;
  return candidates[Math.floor(random() * candidates.length)] as string;
};

/** Always the address that was checked, whatever DNS says by now. The name stays in `Host` and in TLS. */
const pinned = (address: string): NonNullable<RequestOptions['lookup']> => {
  const family = isIP(address);
  return (_host, { all }, callback) => (all ? callback(null, [{ address, family }]) : callback(null, address, family));
};

/** Reads a bounded part of a response, so that the sender sees it taken. */
const discard = (response: IncomingMessage, done: () => void): void => {
  let bytes = 0;
  response.on('data', ({ length }: Buffer) => {
    bytes += length;
    if (bytes > MAX_RESPONSE_BYTES) done();
  });
  response.once('close', done);
  response.on('error', done);
};

/** Whether TLS failed on an open connection. */
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
      // A new connection each time, by no agent that could know a proxy.
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
      // The status counts, even if the rest does not come.
      signal.removeEventListener('abort', abort);
      signal.addEventListener('abort', () => finish(result), { once: true });
      discard(response, () => finish(result));
    });
    request.end(body);
  });

/**
 * Sends a message to a URL that anyone could have chosen. All addresses of its host must be allowed; the connection
 * goes to one of those that were checked. Redirects are not followed, and nothing of the response is kept but its
 * status.
 */
export const createPost =
  ({ networks, resolveHost, random, ca, totalMs = TOTAL_MS }: PostDependencies) =>
  async (target: string, message: Message): Promise<PostResult> => {
    const url = URL.parse(target);
    // As the parser reads it: earlier releases stored URLs with tabs and empty user names.
    if (!url || urlFault(networks, url.href) !== undefined) return failure('url_refused');
    const signal = AbortSignal.timeout(totalMs);
    const addresses = await resolveHost(hostOf(url), signal);
    if (addresses.length === 0) return failure(signal.aborted ? 'timed_out' : 'dns_failed');
    if (!addresses.every(networks.isAllowed)) return failure('address_refused');
    // Without TLS only within the deployer's own networks.
    if (url.protocol === 'http:' && !addresses.every(networks.isExempt)) return failure('url_refused');
    return send(url, choose(addresses, random), message, signal, ca);
  };

export type Post = ReturnType<typeof createPost>;
