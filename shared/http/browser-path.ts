import type { Reply } from './reply.ts';

const BROWSER_PATH = '/v1/auth/browser/';

/** True for the routes that read or write the cookie with a refresh token, for pages of the same host. */
export const isBrowserPath = (path: string): boolean => path.startsWith(BROWSER_PATH);

/** Removes the headers with which pages of other sites can send a request or read a reply. */
export const headersWithoutCors = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('access-control-')));

/** The same for a reply. */
export const withoutCors = (reply: Reply): Reply => ({ ...reply, headers: headersWithoutCors(reply.headers) });
