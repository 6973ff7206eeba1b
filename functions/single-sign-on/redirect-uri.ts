import { InvalidValue } from '../../shared/http/errors.ts';

// RFC 8252, section 7.3: the port is any that was free when the program started.
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);
const MAX_CHARACTERS = 512;

const isPlain = ({ username, password, hash, href }: URL, text: string): boolean =>
  username === '' && password === '' && hash === '' && !text.includes('#') && href.length <= MAX_CHARACTERS;

const isLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.has(hostname);

/**
 * Returns the address of a program on the user's own machine, to which a login's code is sent.
 * @throws 400 for any other address
 */
export const checkRedirectUri = (text: string): string => {
  const url = URL.parse(text);
  if (url && isPlain(url, text) && isLoopback(url)) return url.href;
  throw new InvalidValue(
    'redirect_uri',
    "use http://127.0.0.1:<port>/…, or leave it out to see the code on a page. Pages of the console send 'return_to' instead",
  );
};

/** Adds the code to the address of a program. */
export const withCode = (redirectUri: string, code: string): string => {
  const url = new URL(redirectUri);
  url.searchParams.set('code', code);
  return url.href;
};
