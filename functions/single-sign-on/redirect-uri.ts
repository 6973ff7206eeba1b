import { InvalidRequest } from '../../shared/http/errors.ts';

const CONSOLE = '/console/';
// RFC 8252, section 7.3: the port is any that was free when the program started.
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

const isPlain = ({ username, password, hash, href }: URL, text: string): boolean =>
  username === '' && password === '' && hash === '' && !text.includes('#') && href.length <= MAX_CHARACTERS;
const MAX_CHARACTERS = 512;

const isLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.has(hostname);

const isOfConsole = ({ origin, pathname }: URL, control: URL): boolean =>
  origin === control.origin && pathname.startsWith(`${control.pathname.replace(/\/$/, '')}${CONSOLE}`);

/**
 * Returns the address to which a login's code is sent: a program on the user's own machine, or a page of this host's
 * console.
 * @throws 400 for any other address
 */
export const checkRedirectUri = (text: string, controlUrl: string): string => {
  const url = URL.parse(text);
  if (url && isPlain(url, text) && (isLoopback(url) || isOfConsole(url, new URL(controlUrl)))) return url.href;
  throw new InvalidRequest({
    param: 'redirect_uri',
    message: `Invalid value for 'redirect_uri': use http://127.0.0.1:<port>/… or a URL under ${controlUrl}${CONSOLE}, or leave it out to see the code on a page.`,
  });
};

/** Adds the code to the address of a login. */
export const withCode = (redirectUri: string, code: string): string => {
  const url = new URL(redirectUri);
  url.searchParams.set('code', code);
  return url.href;
};
