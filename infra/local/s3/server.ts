import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeServer, listen } from '../http/listen.ts';
import { withOutages } from '../http/outage.ts';
import { readBody } from '../http/read-body.ts';
import { copyObject, isCopy } from './copy-object.ts';
import {
  entityTooLarge,
  invalidUri,
  keyTooLong,
  noSuchBucket,
  noSuchKey,
  notImplemented,
  preconditionFailed,
  type S3Error,
  toXml,
} from './errors.ts';
import { etagOf } from './etag.ts';
import { isListing, listObjects } from './list-objects.ts';
import { isListingVersions, listVersions } from './list-versions.ts';
import { createMultipartUploads, type MultipartUploads } from './multipart.ts';
import type { ObjectHeaders, ObjectStore } from './object-store.ts';
import { signatureFault } from './signed.ts';
import { readUploadForm, type SigningKeys } from './upload-form.ts';

const MAX_OBJECT_BYTES = 256 * 1024 * 1024;
const MAX_KEY_BYTES = 1_024;
const XML = { 'content-type': 'application/xml' };
const DEFAULT_TYPE = 'application/octet-stream';
// Stored with an object. A signed read can replace each with a parameter, such as `response-content-type`.
const OBJECT_HEADERS = ['content-type', 'content-disposition'];
/** The keys of the local run, by which its functions sign. */
export const LOCAL_KEYS = { accessKeyIds: ['local'], secretAccessKey: 'local' } as const satisfies SigningKeys;
// Stored with an object, and not returned with it.
const TAGS = 'x-amz-tagging';

export interface S3Emulator {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts an S3 emulator with GetObject (also by a signed URL), HeadObject, PutObject, DeleteObject, CopyObject, forms
 * (POST Object), multipart uploads, ListObjectsV2 and ListObjectVersions. The bucket is in the path, as SDKs send it
 * for an IP address. Its outages are managed at `/control`.
 * @param buckets names of the existing buckets
 * @param now when signed URLs and forms expire
 * @param keys by which forms are signed
 */
export const startS3 = async (
  buckets: ReadonlySet<string>,
  store: ObjectStore,
  now: () => number = Date.now,
  keys: SigningKeys = LOCAL_KEYS,
): Promise<S3Emulator> => {
  const uploads = createMultipartUploads(store);
  const server = createServer(
    withOutages((request, response) => {
      serve({ buckets, store, uploads, now, keys }, request, response).catch(() => response.destroy());
    }),
  );
  return { url: await listen(server, 0), close: () => closeServer(server) };
};

interface Emulator {
  buckets: ReadonlySet<string>;
  store: ObjectStore;
  uploads: MultipartUploads;
  now: () => number;
  keys: SigningKeys;
}

interface ObjectRequest {
  request: IncomingMessage;
  bucket: string;
  key: string;
  parameters: URLSearchParams;
  /** Undefined if it is too large. */
  body: Buffer | undefined;
}

interface Answer {
  /** 200 if absent, or 204 after a deletion. */
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer | string | undefined;
}

const serve = async (emulator: Emulator, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await readBody(request, MAX_OBJECT_BYTES);
  // Pages send forms and read the reply. Buckets that take forms allow it on AWS.
  if (request.method === 'POST' || request.method === 'OPTIONS') response.setHeader('access-control-allow-origin', '*');
  if (request.method === 'OPTIONS') return send(response, 200, { 'access-control-allow-methods': 'POST' }, undefined);
  const answer = await answerTo(emulator, request, body);
  if ('code' in answer) return sendError(request, response, answer);
  send(response, answer.status ?? (request.method === 'DELETE' ? 204 : 200), answer.headers ?? {}, answer.body);
};

const answerTo = async (emulator: Emulator, request: IncomingMessage, body: Buffer | undefined): Promise<Answer | S3Error> => {
  const object = parseObjectPath(request.url ?? '/');
  if (!object) return invalidUri;
  if (!emulator.buckets.has(object.bucket)) return noSuchBucket;
  const parameters = new URL(request.url ?? '/', 'http://localhost').searchParams;
  if (object.key === '' && request.method === 'POST') return postForm(emulator, request, object.bucket, body);
  if (object.key === '') {
    if (request.method === 'GET' && isListingVersions(parameters))
      return { headers: XML, body: await listVersions(emulator.store, object.bucket, parameters) };
    if (request.method !== 'GET' || !isListing(parameters)) return notImplemented;
    return { headers: XML, body: await listObjects(emulator.store, object.bucket, parameters) };
  }
  if (Buffer.byteLength(object.key) > MAX_KEY_BYTES) return keyTooLong;
  return handlerOf(request, parameters)(emulator, { request, ...object, parameters, body });
};

type Handler = (emulator: Emulator, request: ObjectRequest) => Promise<Answer | S3Error> | Answer | S3Error;

const handlerOf = (request: IncomingMessage, parameters: URLSearchParams): Handler => {
  const { method } = request;
  const isOfUpload = parameters.has('uploadId');
  if (method === 'GET' || method === 'HEAD') return isOfUpload ? () => notImplemented : read;
  if (method === 'PUT' && isCopy(request)) return isOfUpload ? () => notImplemented : copy;
  if (method === 'PUT') return isOfUpload ? putPart : put;
  if (method === 'POST' && parameters.has('uploads')) return createUpload;
  if (method === 'POST' && isOfUpload) return completeUpload;
  if (method === 'DELETE') return isOfUpload ? abortUpload : remove;
  return () => notImplemented;
};

const read: Handler = async ({ store, now }, { request, bucket, key, parameters }) => {
  const fault = signatureFault(request, parameters, now());
  if (fault) return fault;
  const content = await store.get(bucket, key);
  if (!content) return noSuchKey;
  const { 'if-match': expected = '*' } = request.headers;
  if (expected !== '*' && expected !== etagOf(content)) return preconditionFailed;
  const { [TAGS]: _, ...own } = await store.headersOf(bucket, key);
  const stored = { 'content-type': DEFAULT_TYPE, ...own };
  const asked = OBJECT_HEADERS.flatMap((name) => {
    const value = parameters.get(`response-${name}`);
    return value === null ? [] : [[name, value] as const];
  });
  const headers = { ...stored, ...Object.fromEntries(asked), etag: etagOf(content), 'content-length': String(content.length) };
  return { headers, body: request.method === 'GET' ? content : undefined };
};

// Undefined if the body can be stored.
const bodyFault = ({ request, body }: ObjectRequest): S3Error | undefined => {
  if (!body) return entityTooLarge;
  return isChunked(request) ? notImplemented : undefined;
};

const put: Handler = async ({ store }, object) => {
  const { request, bucket, key, body } = object;
  const fault = bodyFault(object);
  if (fault || !body) return fault ?? entityTooLarge;
  if (request.headers['if-none-match'] === '*' && (await store.get(bucket, key))) return preconditionFailed;
  await store.put(bucket, key, body, objectHeaders(request));
  return { headers: { etag: etagOf(body) } };
};

const copy: Handler = async ({ store, buckets }, { request, bucket, key }) => {
  const copied = await copyObject(store, buckets, request, { bucket, key }, objectHeaders(request));
  return typeof copied === 'string' ? { headers: XML, body: copied } : copied;
};

const postForm = async (
  { store, keys, now }: Emulator,
  { headers }: IncomingMessage,
  bucket: string,
  body: Buffer | undefined,
): Promise<Answer | S3Error> => {
  if (!body) return entityTooLarge;
  const file = await readUploadForm(bucket, { body, contentType: headers['content-type'] ?? '' }, keys, now());
  if ('code' in file) return file;
  if (Buffer.byteLength(file.key) > MAX_KEY_BYTES) return keyTooLong;
  await store.put(bucket, file.key, file.content, file.contentType === undefined ? {} : { 'content-type': file.contentType });
  return { status: 204, headers: { etag: etagOf(file.content) } };
};

const remove: Handler = async ({ store }, { bucket, key }) => {
  await store.delete(bucket, key);
  return {};
};

const createUpload: Handler = ({ uploads }, { request, ...target }) => asXml(uploads.create(target, objectHeaders(request)));

const putPart: Handler = ({ uploads }, object) => {
  const { parameters, body, ...target } = object;
  const fault = bodyFault(object);
  if (fault || !body) return fault ?? entityTooLarge;
  return asXml(uploads.put(parameters.get('uploadId') ?? '', target, Number(parameters.get('partNumber')), body));
};

const completeUpload: Handler = async ({ uploads }, { parameters, body, ...target }) =>
  asXml(await uploads.complete(parameters.get('uploadId') ?? '', target, String(body ?? '')));

const abortUpload: Handler = ({ uploads }, { parameters, ...target }) => asXml(uploads.abort(parameters.get('uploadId') ?? '', target));

const asXml = (outcome: { body?: string; etag?: string } | S3Error): Answer | S3Error =>
  'code' in outcome ? outcome : { headers: { ...XML, ...(outcome.etag && { etag: outcome.etag }) }, body: outcome.body };

// Without those that are the default.
const objectHeaders = ({ headers }: IncomingMessage): ObjectHeaders =>
  Object.fromEntries(
    [...OBJECT_HEADERS, TAGS].flatMap((name) => {
      const value = headers[name]?.toString();
      return value === undefined || value === DEFAULT_TYPE ? [] : [[name, value] as const];
    }),
  );

const parseObjectPath = (url: string): { bucket: string; key: string } | undefined => {
  const [, bucket = '', key = ''] = /^\/([^/?]*)\/?([^?]*)/.exec(url) ?? [];
  try {
    return { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) };
  } catch {
    return undefined;
  }
};

// SDKs send streams in signed chunks.
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
