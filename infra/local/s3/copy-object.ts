import type { IncomingMessage } from 'node:http';
import { invalidUri, noSuchBucket, noSuchKey, preconditionFailed, type S3Error } from './errors.ts';
import { etagOf } from './etag.ts';
import type { ObjectHeaders, ObjectStore } from './object-store.ts';

const SOURCE = 'x-amz-copy-source';

/** True if a PUT copies another object instead of storing its body. */
export const isCopy = ({ headers }: IncomingMessage): boolean => headers[SOURCE] !== undefined;

const sourceOf = ({ headers }: IncomingMessage): { bucket: string; key: string } | undefined => {
  const [, bucket, key] = /^\/?([^/?]+)\/([^?]+)$/.exec(String(headers[SOURCE])) ?? [];
  try {
    return bucket && key ? { bucket: decodeURIComponent(bucket), key: decodeURIComponent(key) } : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Copies an object, with its own headers or with those of the request
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/API_CopyObject.html), if the source is what
 * `x-amz-copy-source-if-match` says, and if there is no object yet where `If-None-Match` says so.
 * @param ownHeaders those that the request stores
 * @returns the body of the reply
 */
export const copyObject = async (
  store: ObjectStore,
  buckets: ReadonlySet<string>,
  request: IncomingMessage,
  target: { bucket: string; key: string },
  ownHeaders: ObjectHeaders,
): Promise<string | S3Error> => {
  const { headers } = request;
  const source = sourceOf(request);
  if (!source) return invalidUri;
  if (!buckets.has(source.bucket)) return noSuchBucket;
  const content = await store.get(source.bucket, source.key);
  if (!content) return noSuchKey;
  const expected = headers['x-amz-copy-source-if-match'];
  if (expected !== undefined && expected !== etagOf(content)) return preconditionFailed;
  if (headers['if-none-match'] === '*' && (await store.get(target.bucket, target.key))) return preconditionFailed;
  const isReplaced = headers['x-amz-metadata-directive'] === 'REPLACE';
  await store.put(target.bucket, target.key, content, isReplaced ? ownHeaders : await store.headersOf(source.bucket, source.key));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<CopyObjectResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LastModified>${new Date().toISOString()}</LastModified><ETag>${etagOf(content).replaceAll('"', '&quot;')}</ETag></CopyObjectResult>`;
};
