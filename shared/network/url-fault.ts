import { isIP } from 'node:net';
import type { Networks } from './networks.ts';

export const MAX_URL_CHARACTERS = 2_048;
const MAX_HOST_CHARACTERS = 253;
const HTTPS_PORT = 443;
const HTTP_PORT = 80;
// Lower ports belong to other protocols, such as mail, which could take a request for something else.
const FIRST_FREE_PORT = 1_024;

// From the slashes to the path: user name and password, which can be empty, host and port.
const AUTHORITY = /^[^:]*:[\\/]*([^\\/?#]*)/;

/** Returns the port that a URL names or implies. */
export const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? HTTPS_PORT : HTTP_PORT) : Number(port));

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Returns the fault of a URL that a customer chose, as the end of a sentence; undefined: none that shows without its
 * DNS records.
 */
export const urlFault = (networks: Networks, text: string): string | undefined => {
  if (text.length > MAX_URL_CHARACTERS || !URL.canParse(text))
    return `expected an https URL of at most ${MAX_URL_CHARACTERS} characters, such as "https://example.com/path"`;
  // The parser drops or encodes these, so that the URL would not be the one that is shown.
  if (/[\s\p{Cc}]/u.test(text)) return 'expected no spaces, tabs or line breaks in the URL';
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' && networks.hasExemptions;
  if (url.protocol !== 'https:' && !isHttp) return 'expected a URL that begins with https://';
  if (AUTHORITY.exec(text)?.[1]?.includes('@')) return 'expected no user name and password in the URL';
  if (url.hash !== '') return 'expected no fragment (#) in the URL';
  const port = portOf(url);
  if (port < FIRST_FREE_PORT && port !== HTTPS_PORT && !(isHttp && port === HTTP_PORT))
    return `expected the port ${HTTPS_PORT}, or one from ${FIRST_FREE_PORT} on`;
  const hostname = hostOf(url);
  if (hostname.length > MAX_HOST_CHARACTERS) return `expected a host of at most ${MAX_HOST_CHARACTERS} characters`;
  if (isIP(hostname) === 0) return undefined;
  if (!networks.isAllowed(hostname)) return `expected a public address, and ${hostname} is not on the public Internet`;
  return isHttp && !networks.isExempt(hostname) ? 'expected a URL that begins with https://' : undefined;
};
