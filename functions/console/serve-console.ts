import { CONSOLE_PATHS } from '../../shared/hosts/console-paths.ts';
import type { ApiEvent } from '../../shared/http/api-event.ts';
import { headersWithoutCors } from '../../shared/http/browser-path.ts';
import { entityTag, unlessKnown } from '../../shared/http/conditional.ts';
import { commonHeaders, type Reply } from '../../shared/http/reply.ts';
import { NotFound } from '../../shared/http/router.ts';
import { createStoredFiles, IMMUTABLE } from '../../shared/static-files/stored-files.ts';

const PAGE = 'index.html';
const ASSETS = 'assets/';
const BASE = `<base href="${CONSOLE_PATHS.page}/">`;

export interface ConsoleOptions {
  /** The output of infra/tools/console/write-console.ts. */
  folder: string;
  /** Origins besides its own that the page may send requests to. */
  origins: readonly string[];
}

// Relative, because only the browser knows if the host's root is a stage.
const baseOf = ({ path }: ApiEvent): string => {
  const below = path.slice(path.indexOf(CONSOLE_PATHS.page) + CONSOLE_PATHS.page.length);
  if (below === '') return `.${CONSOLE_PATHS.page}/`;
  return '../'.repeat(below.split('/').length - 2) || './';
};

const contentSecurityPolicy = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...origins].join(' ')}`,
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

// No page of another site can read it, frame it or learn its address.
const pageHeaders = (requestId: string, origins: readonly string[]): Record<string, string> => ({
  ...headersWithoutCors(commonHeaders(requestId, 'text/html; charset=utf-8')),
  'cache-control': 'no-cache',
  'content-security-policy': contentSecurityPolicy(origins),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000',
});

/**
 * Serves the console: its assets, and its page at every other path, which the page's own router reads.
 * @throws 404 for an asset that this release does not have, because a page in its place would be run as a script
 */
export const createConsole = ({ folder, origins }: ConsoleOptions): ((event: ApiEvent) => Promise<Reply>) => {
  const files = createStoredFiles(folder);

  const page = async (event: ApiEvent): Promise<Reply> => {
    const html = (await files.text(PAGE)).replace(BASE, `<base href="${baseOf(event)}">`);
    return unlessKnown(event, entityTag(html), { statusCode: 200, headers: pageHeaders(event.requestId, origins), body: html });
  };

  return async (event) => {
    const name = event.pathParameters?.path ?? '';
    if (!name.startsWith(ASSETS)) return page(event);
    const file = name.slice(ASSETS.length);
    if (file === PAGE || !(await files.has(file))) throw new NotFound(event.httpMethod, event.path);
    return files.reply(event, file, { 'cache-control': IMMUTABLE });
  };
};
