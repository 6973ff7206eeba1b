import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import { InvalidValue } from '../../shared/http/errors.ts';

const CONSOLE = `${CONSOLE_PATHS.page}/`;
// Servers and browsers differ in how they read these in a path.
const AMBIGUOUS = /\/\/|%(?:2e|2f|5c|00)/i;

const isPageOf = (text: string, { origin, pathname }: URL): boolean => {
  const url = URL.parse(text, origin);
  // A browser goes to exactly this text only if reading it as a URL changes nothing.
  return url?.href === origin + text && !text.includes('#') && text.startsWith(pathname) && !AMBIGUOUS.test(url.pathname);
};

const consoleOf = (controlUrl: string): URL => new URL(controlUrl + CONSOLE);

/**
 * Returns the path of the page of this host's console at which a login began.
 * @param controlUrl with the prefix of the stage, and without a slash at the end
 * @throws 400 for anything else, such as an address of another host
 */
export const checkReturnTo = (text: string, controlUrl: string): string => {
  const page = consoleOf(controlUrl);
  if (isPageOf(text, page)) return text;
  throw new InvalidValue('return_to', `use the path of a page of the console, such as ${page.pathname}keys?status=open`);
};

/**
 * The page of the console that exchanges a login's code. The code is in the fragment: browsers neither send that to a
 * server nor name it in a referrer.
 */
export const signInPageOf = (controlUrl: string, code: string): string => `${consoleOf(controlUrl).href}sign-in#sso=${code}`;
