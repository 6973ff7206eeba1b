import { escapeXml } from './errors.ts';
import { etagOf } from './etag.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';

const MAX_KEYS = 1_000;
const SUPPORTED = new Set(['list-type', 'prefix', 'max-keys', 'continuation-token', 'start-after', 'x-id']);

/** True for the parameters of a supported ListObjectsV2: one without a delimiter. */
export const isListing = (parameters: URLSearchParams): boolean =>
  parameters.get('list-type') === '2' &&
  [...parameters.keys()].every((name) => SUPPORTED.has(name)) &&
  /^\d{1,9}$/.test(maxKeysOf(parameters));

const maxKeysOf = (parameters: URLSearchParams): string => parameters.get('max-keys') ?? String(MAX_KEYS);

/** S3 lists keys in the order of their bytes in UTF-8. */
export const byKey = (a: ListedObject, b: ListedObject): number => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));

// The token is the last key of the page before.
const toToken = (key: string): string => Buffer.from(key).toString('base64url');
const readToken = (token: string): string => Buffer.from(token, 'base64url').toString();

/** Answers ListObjectsV2 (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html). @returns the body */
export const listObjects = async (store: ObjectStore, bucket: string, parameters: URLSearchParams): Promise<string> => {
  const prefix = parameters.get('prefix') ?? '';
  const token = parameters.get('continuation-token');
  const after = token === null ? (parameters.get('start-after') ?? '') : readToken(token);
  const maxKeys = Math.min(MAX_KEYS, Number(maxKeysOf(parameters)));
  const follows = ({ key }: ListedObject): boolean => Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0;
  const found = (await store.list(bucket)).filter((object) => object.key.startsWith(prefix) && follows(object)).sort(byKey);
  const page = found.slice(0, maxKeys);
  const last = page.at(-1);
  const isTruncated = last !== undefined && found.length > page.length;
  const contents = await Promise.all(page.map((object) => toContents(store, bucket, object)));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>${bucket}</Name><Prefix>${escapeXml(prefix)}</Prefix>`,
    `<KeyCount>${page.length}</KeyCount><MaxKeys>${maxKeys}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>`,
    ...(token === null ? [] : [`<ContinuationToken>${escapeXml(token)}</ContinuationToken>`]),
    ...(isTruncated ? [`<NextContinuationToken>${toToken(last.key)}</NextContinuationToken>`] : []),
    ...contents,
    '</ListBucketResult>',
  ].join('');
};

const toContents = async (store: ObjectStore, bucket: string, { key, modifiedAt }: ListedObject): Promise<string> => {
  const content = (await store.get(bucket, key)) ?? Buffer.alloc(0);
  const facts = `<LastModified>${modifiedAt.toISOString()}</LastModified><ETag>${escapeXml(etagOf(content))}</ETag><Size>${content.length}</Size>`;
  return `<Contents><Key>${escapeXml(key)}</Key>${facts}<StorageClass>STANDARD</StorageClass></Contents>`;
};
