import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type ApiEvent, headerOf } from '../http/api-event.ts';
import { entityTag, unlessKnown } from '../http/conditional.ts';
import { commonHeaders, type Reply } from '../http/reply.ts';

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
  '.txt': 'text/plain; charset=utf-8',
};

/** For files whose names include a hash of their content. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

const takesGzip = (event: ApiEvent): boolean =>
  (headerOf(event, 'accept-encoding') ?? '').split(',').some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));

/** Files that were compressed when the function was bundled. Each is read at its first request. */
export interface StoredFiles {
  /** True if the folder has a file. */
  has(name: string): Promise<boolean>;
  /** The content of a file. @throws Error if there is none */
  text(name: string): Promise<string>;
  /** A reply with a file and its entity tag, or 304. @throws Error if there is none */
  reply(event: ApiEvent, name: string, headers: Readonly<Record<string, string>>): Promise<Reply>;
}

/** @param folder of files `<name>.gz` */
export const createStoredFiles = (folder: string): StoredFiles => {
  const files = new Map<string, StoredFile>();
  let names: readonly string[] | undefined;

  const load = async (name: string): Promise<StoredFile> => {
    const known = files.get(name);
    if (known) return known;
    const gzipped = await readFile(path.join(folder, `${name}.gz`));
    const tag = entityTag(gzipped);
    const stored = { gzipped, tags: { gzip: tag, identity: tag.replace(/"$/, '-identity"') } };
    files.set(name, stored);
    return stored;
  };

  return {
    async has(name) {
      names ??= await readdir(folder);
      return names.includes(`${name}.gz`);
    },
    async text(name) {
      const { gzipped } = await load(name);
      return (await promisify(gunzip)(gzipped)).toString();
    },
    async reply(event, name, headers) {
      const { gzipped, tags } = await load(name);
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
    },
  };
};
