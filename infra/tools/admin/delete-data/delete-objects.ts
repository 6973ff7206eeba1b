import { DeleteObjectCommand, ListObjectVersionsCommand, type S3Client } from '@aws-sdk/client-s3';

/** The objects of a bucket whose keys begin with a prefix. */
export interface Objects {
  bucket: string;
  prefix: string;
}

const PARALLEL_DELETIONS = 10;
// Pages of 1,000 versions.
const MAX_VERSION_PAGES = 100_000;

// Includes delete markers.
async function* versionPages(
  client: S3Client,
  { bucket, prefix }: Objects,
): AsyncGenerator<{ Key: string; VersionId: string | undefined }[]> {
  let marker: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } = {};
  for (let page = 0; page < MAX_VERSION_PAGES; page++) {
    const listed = await client.send(new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, ...marker }));
    const all = [...(listed.Versions ?? []), ...(listed.DeleteMarkers ?? [])];
    yield all.flatMap(({ Key, VersionId }) => (Key === undefined ? [] : [{ Key, VersionId }]));
    if (!listed.IsTruncated) return;
    marker = { KeyMarker: listed.NextKeyMarker, VersionIdMarker: listed.NextVersionIdMarker };
  }
  throw new Error(`More than ${MAX_VERSION_PAGES} pages of ${bucket} begin with ${prefix}.`);
}

/** Deletes all versions of objects, so that none can be restored, or only counts them. @returns how many there were */
export const deleteObjects = async (client: S3Client, objects: Objects, isDeleting: boolean): Promise<number> => {
  let count = 0;
  for await (const versions of versionPages(client, objects)) {
    count += versions.length;
    if (!isDeleting) continue;
    for (let i = 0; i < versions.length; i += PARALLEL_DELETIONS)
      await Promise.all(
        versions
          .slice(i, i + PARALLEL_DELETIONS)
          .map((version) => client.send(new DeleteObjectCommand({ Bucket: objects.bucket, ...version }))),
      );
  }
  return count;
};
