import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type ApiEvent, headerOf } from './api-event.ts';
import { entityTag, unlessKnown } from './conditional.ts';
import { commonHeaders, type Reply } from './reply.ts';
import { type Handle, NotFound } from './router.ts';

// Compressed at build time.
interface StoredFile {
  gzipped: Buffer;
  /** The entity tags of the compressed and the plain reply, which are different bytes. */
  tags: { gzip: string; identity: string };
}

// API Gateway decodes the base64 body, which is the only way to send bytes.
interface BinaryReply extends Reply {
  isBase64Encoded: true;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

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

const takesGzip = (event: ApiEvent): boolean =>
  (headerOf(event, 'accept-encoding') ?? '').split(',').some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));

/**
 * The API reference: the OpenAPI document, and a page that shows it with a viewer served by this host.
 * @param folder the output of infra/tools/reference/write-reference.ts; its files are read at the first request
 */
export const createReference = (folder: string) => {
  const files = new Map<string, StoredFile>();
  let names: readonly string[] | undefined;

  const load = async (name: string): Promise<StoredFile> => {
    const gzipped = await readFile(path.join(folder, `${name}.gz`));
    const tag = entityTag(gzipped);
    return { gzipped, tags: { gzip: tag, identity: tag.replace(/"$/, '-identity"') } };
  };

  const send = async (event: ApiEvent, name: string, headers: Record<string, string>): Promise<Reply> => {
    const stored = files.get(name) ?? (await load(name));
    files.set(name, stored);
    const { gzipped, tags } = stored;
    const coding = takesGzip(event) ? 'gzip' : 'identity';
    const bytes = coding === 'gzip' ? gzipped : await promisify(gunzip)(gzipped);
    const reply: BinaryReply = {
      statusCode: 200,
      headers: {
        ...commonHeaders(event.requestId, CONTENT_TYPES[path.extname(name)] ?? 'application/octet-stream'),
        ...headers,
        vary: 'accept-encoding',
        ...(coding === 'gzip' && { 'content-encoding': coding }),
      },
      body: bytes.toString('base64'),
      isBase64Encoded: true,
    };
    return unlessKnown(event, tags[coding], reply);
  };

  /** GET /openapi.json. */
  const document: Handle = (event) => send(event, DOCUMENT, { 'cache-control': 'public, max-age=300' });

  /** GET /docs. The page's links are relative to the path without a trailing slash. */
  const page: Handle = async (event) => {
    if (event.path.endsWith('/'))
      return { statusCode: 308, headers: { ...commonHeaders(event.requestId, 'text/plain'), location: '../docs' }, body: '' };
    return send(event, PAGE, { 'cache-control': 'no-cache', 'content-security-policy': CONTENT_SECURITY_POLICY });
  };

  /** GET /docs/{file}: a file of the viewer. Its name includes a hash of its content, so it can be cached forever. */
  const viewerFile: Handle = async (event) => {
    names ??= await readdir(folder);
    const name = event.pathParameters?.file ?? '';
    if (!/\.(?:js|css)$/.test(name) || !names.includes(`${name}.gz`)) throw new NotFound(event.httpMethod, event.path);
    return send(event, name, { 'cache-control': 'public, max-age=31536000, immutable' });
  };

  return { document, page, viewerFile };
};
