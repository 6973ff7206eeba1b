import type { ApiEvent } from '../http/api-event.ts';
import { commonHeaders } from '../http/reply.ts';
import { type Handle, NotFound } from '../http/router.ts';
import { createStoredFiles, IMMUTABLE } from './stored-files.ts';

// The page may load scripts and files from this host and send requests to it, nothing else.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = 'docs.html';
const DOCUMENT = 'openapi.json';

/**
 * The API reference: the OpenAPI document, and a page that shows it with a viewer served by this host.
 * @param folder the output of infra/tools/reference/write-reference.ts; its files are read at the first request
 */
export const createReference = (folder: string) => {
  const files = createStoredFiles(folder);

  /** GET /openapi.json. */
  const document: Handle = (event) => files.reply(event, DOCUMENT, { 'cache-control': 'public, max-age=300' });

  /** GET /docs. The page's links are relative to the path without a trailing slash. */
  const page: Handle = async (event) => {
    if (event.path.endsWith('/'))
      return { statusCode: 308, headers: { ...commonHeaders(event.requestId, 'text/plain'), location: '../docs' }, body: '' };
    return files.reply(event, PAGE, { 'cache-control': 'no-cache', 'content-security-policy': CONTENT_SECURITY_POLICY });
  };

  /** GET /docs/{file}: a file of the viewer. Its name includes a hash of its content, so it can be cached forever. */
  const viewerFile: Handle = async (event: ApiEvent) => {
    const name = event.pathParameters?.file ?? '';
    if (!/\.(?:js|css)$/.test(name) || !(await files.has(name))) throw new NotFound(event.httpMethod, event.path);
    return files.reply(event, name, { 'cache-control': IMMUTABLE });
  };

  return { document, page, viewerFile };
};
