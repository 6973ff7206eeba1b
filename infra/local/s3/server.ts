import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listen } from '../http/listen.ts';
import { readBody } from '../http/read-body.ts';
import {
  alreadyExists,
  entityTooLarge,
  invalidUri,
  keyTooLong,
  noSuchBucket,
  noSuchKey,
  notImplemented,
  type S3Error,
  toXml,
} from './errors.ts';
import { etagOf } from './etag.ts';
import { isListing, listObjects } from './list-objects.ts';
import type { ObjectStore } from './object-store.ts';

const MAX_OBJECT_BYTES = 256 * 1024 * 1024;
const MAX_KEY_BYTES = 1_024;
const XML = { 'content-type': 'application/xml' };

export interface S3Emulator {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts an S3 emulator with GetObject, HeadObject, PutObject and ListObjectsV2. The bucket is in the path, as SDKs send it for an IP address.
 * @param buckets names of the existing buckets
 */
export const startS3 = async (buckets: ReadonlySet<string>, store: ObjectStore): Promise<S3Emulator> => {
  const server = createServer((request, response) => {
    serve(buckets, store, request, response).catch(() => response.destroy());
  });
  return { url: await listen(server, 0), close: () => closeServer(server) };
};

const serve = async (
  buckets: ReadonlySet<string>,
  store: ObjectStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const body = await readBody(request, MAX_OBJECT_BYTES);
  const reject = (error: S3Error): void => sendError(request, response, error);
  const object = parseObjectPath(request.url ?? '/');
  if (!object) return reject(invalidUri);
  const { bucket, key } = object;
  if (!buckets.has(bucket)) return reject(noSuchBucket);
  if (key === '') {
    const parameters = new URL(request.url ?? '/', 'http://localhost').searchParams;
    if (request.method !== 'GET' || !isListing(parameters)) return reject(notImplemented);
    return send(response, 200, XML, await listObjects(store, bucket, parameters));
  }
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return reject(keyTooLong);
  if (request.method === 'PUT') {
    if (!body) return reject(entityTooLarge);
    if (isChunked(request)) return reject(notImplemented);
    if (request.headers['if-none-match'] === '*' && (await store.get(bucket, key))) return reject(alreadyExists);
    await store.put(bucket, key, body);
    send(response, 200, { etag: etagOf(body) });
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return reject(notImplemented);
  const content = await store.get(bucket, key);
  if (!content) return reject(noSuchKey);
  const headers = { etag: etagOf(content), 'content-type': 'application/octet-stream', 'content-length': String(content.length) };
  send(response, 200, headers, request.method === 'GET' ? content : undefined);
};

const parseObjectPath = (url: string): { bucket: string; key: string } | undefined => {
  const [, bucket = '', key = ''] = /^\/([^/?]*)\/?([^?]*)/.exec(url) ?? [];
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) };
  } catch {
    return undefined;
  }
};

/** Whether the body is split into signed chunks, as SDKs send streams. */
const isChunked = ({ headers }: IncomingMessage): boolean =>
  String(headers['content-encoding']).includes('aws-chunked') || String(headers['x-amz-content-sha256']).startsWith('STREAMING-');

const send = (response: ServerResponse, status: number, headers: Record<string, string>, body?: Buffer | string): void => {
  response.writeHead(status, { 'x-amz-request-id': randomUUID(), ...headers });
  response.end(body);
};

const sendError = ({ method, url }: IncomingMessage, response: ServerResponse, error: S3Error): void => {
  const body = toXml(error, url ?? '/', randomUUID());
  send(response, error.status, XML, method === 'HEAD' ? undefined : body);
};
