import { GetObjectCommand, PutObjectCommand, type S3Client, S3ServiceException } from '@aws-sdk/client-s3';

/** Files that are never overwritten. */
export interface WriteOnceFiles {
  /** Stores a file unless the key exists. @returns the stored content */
  putOnce(key: string, content: Uint8Array, contentType: string): Promise<Uint8Array>;
}

export const createWriteOnceFiles = (client: S3Client, Bucket: string): WriteOnceFiles => ({
  putOnce: async (Key, Body, ContentType) => {
    try {
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType, IfNoneMatch: '*' }));
      return Body;
    } catch (error) {
      if (!(error instanceof S3ServiceException && error.name === 'PreconditionFailed')) throw error;
      const found = await client.send(new GetObjectCommand({ Bucket, Key }));
      if (!found.Body) throw new Error(`S3 returned no content for ${Key}.`, { cause: error });
      return found.Body.transformToByteArray();
    }
  },
});
