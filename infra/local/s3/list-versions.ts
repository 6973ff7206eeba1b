import { escapeXml } from './errors.ts';
import { etagOf } from './etag.ts';
import { byKey } from './list-objects.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';

const MAX_KEYS = 1_000;
const SUPPORTED = new Set(['versions', 'prefix', 'key-marker', 'version-id-marker', 'x-id']);

/** True for the parameters of a supported ListObjectVersions: one without a delimiter. */
export const isListingVersions = (parameters: URLSearchParams): boolean =>
  parameters.has('versions') && [...parameters.keys()].every((name) => SUPPORTED.has(name));

/**
 * Answers ListObjectVersions (https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectVersions.html) as for a
 * bucket that keeps no versions: each object has one, `null`. @returns the body
 */
export const listVersions = async (store: ObjectStore, bucket: string, parameters: URLSearchParams): Promise<string> => {
  const prefix = parameters.get('prefix') ?? '';
  const marker = parameters.get('key-marker') ?? '';
  const follows = ({ key }: ListedObject): boolean => Buffer.compare(Buffer.from(key), Buffer.from(marker)) > 0;
  const found = (await store.list(bucket)).filter((object) => object.key.startsWith(prefix) && follows(object)).sort(byKey);
  const page = found.slice(0, MAX_KEYS);
  const isTruncated = found.length > page.length;
  const last = page.at(-1)?.key ?? '';
  const versions = await Promise.all(page.map((object) => toVersion(store, bucket, object)));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
    `<Name>${bucket}</Name><Prefix>${escapeXml(prefix)}</Prefix><KeyMarker>${escapeXml(marker)}</KeyMarker>`,
    `<MaxKeys>${MAX_KEYS}</MaxKeys><IsTruncated>${isTruncated}</IsTruncated>`,
    ...(isTruncated ? [`<NextKeyMarker>${escapeXml(last)}</NextKeyMarker><NextVersionIdMarker>null</NextVersionIdMarker>`] : []),
    ...versions,
    '</ListVersionsResult>',
  ].join('');
};

const toVersion = async (store: ObjectStore, bucket: string, { key, modifiedAt }: ListedObject): Promise<string> => {
  const content = (await store.get(bucket, key)) ?? Buffer.alloc(0);
  const facts = `<LastModified>${modifiedAt.toISOString()}</LastModified><ETag>${escapeXml(etagOf(content))}</ETag><Size>${content.length}</Size>`;
  return `<Version><Key>${escapeXml(key)}</Key><VersionId>null</VersionId><IsLatest>true</IsLatest>${facts}<StorageClass>STANDARD</StorageClass></Version>`;
};
