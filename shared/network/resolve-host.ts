import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

const TIMEOUT_MS = 2_000;
const TRIES = 2;

// RFC 6761, section 6.3: no DNS server is asked for the names of this machine.
const LOCAL = /^(.+\.)?localhost\.?$/i;
const LOOPBACK = ['127.0.0.1', '::1'];

/** All addresses of a host, IPv4 first. Empty if it has none or no server replies. */
export type ResolveHost = (host: string, signal: AbortSignal) => Promise<string[]>;

/** Creates a resolver. @param servers DNS servers; default: those of the environment */
export const createResolveHost =
  (servers?: readonly string[]): ResolveHost =>
  async (host, signal) => {
    if (isIP(host) !== 0) return [host];
    if (LOCAL.test(host)) return LOOPBACK;
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers) resolver.setServers(servers);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    signal.removeEventListener('abort', cancel);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
