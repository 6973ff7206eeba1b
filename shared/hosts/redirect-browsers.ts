import { type ApiEvent, headerOf } from '../http/api-event.ts';
import { commonHeaders, type Reply } from '../http/reply.ts';
import type { Handle } from '../http/router.ts';
import { servicePaths } from './service-routes.ts';

const ROOT = '/';

const isBrowserAtRoot = (event: ApiEvent): boolean =>
  event.resource === ROOT && ['GET', 'HEAD'].includes(event.httpMethod) && /\btext\/html\b/i.test(headerOf(event, 'accept') ?? '');

// Relative to the root as the caller sees it, which can be a stage, with or without a trailing slash: `/live/` or
// `/live`.
const toReference = ({ requestId, requestContext: { path } }: ApiEvent): Reply => {
  const stage = path.slice(path.lastIndexOf('/') + 1);
  const location = `${stage}${servicePaths.reference}`.replace(/^\//, '');
  return { statusCode: 302, headers: { ...commonHeaders(requestId, 'text/plain'), location, vary: 'accept' }, body: '' };
};

/**
 * Redirects a browser that opens the root of a host to the host's reference. All other requests are handled as they
 * were.
 */
export const redirectBrowsers =
  (handle: Handle): Handle =>
  async (event) => {
    if (!isBrowserAtRoot(event)) return handle(event);
    event.routePath = ROOT;
    return toReference(event);
  };
