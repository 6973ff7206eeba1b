import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type ApiEvent, headerOf } from './api-event.ts';
import { entityTag, unlessKnown } from './conditional.ts';
import { commonHeaders, type Reply } from './reply.ts';
import { type Handle, NotFound } from './router.ts';

/** A file that the function ships with, compressed as it was when the function was built. */
interface StoredFile {
  gzipped: Buffer;
  /** The tag of what is sent compressed, and of what is sent as it is: they are not the same bytes. */
  tags: { gzip: string; identity: string };
}

/** API Gateway decodes the body; only so may it be bytes. */
interface BinaryReply extends Reply {
  isBase64Encoded: true;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The page may run and load what this host ships, and ask this host; nothing else. */
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
 * The API reference: the OpenAPI document, and a page that shows it with a viewer of our own host.
 * @param folder what infra/reference/write-reference.ts has written; it is read at the first request and not before
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

  /** GET /docs. Its links are relative to the path without a slash at its end. */
  const page: Handle = async (event) => {
    if (event.path.endsWith('/'))
      return { statusCode: 308, headers: { ...commonHeaders(event.requestId, 'text/plain'), location: '../docs' }, body: '' };
    return send(event, PAGE, { 'cache-control': 'no-cache', 'content-security-policy': CONTENT_SECURITY_POLICY });
  };

  /** GET /docs/{file}: a file of the viewer. Its name has a hash of its content, so that it may be kept for ever. */
  const viewerFile: Handle = async (event) => {
    names ??= await readdir(folder);
    const name = event.pathParameters?.file ?? '';
    if (!/\.(?:js|css)$/.test(name) || !names.includes(`${name}.gz`)) throw new NotFound(event.httpMethod, event.path);
    return send(event, name, { 'cache-control': 'public, max-age=31536000, immutable' });
  };

  return { document, page, viewerFile };
};
