import { GetObjectCommand, NoSuchKey, S3ServiceException } from '@aws-sdk/client-s3';
import { createBillingClient } from '../../../../shared/billing/billing-files.ts';

/** Reads an object; undefined if there is none. */
export type ReadObject = (key: string) => Promise<Buffer | undefined>;

// Without the permission to list a bucket, S3 answers 403 for an object that doesn't exist.
const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey || (error instanceof S3ServiceException && error.name === 'AccessDenied');

export const createReadObject =
  (bucket: string, client = createBillingClient()): ReadObject =>
  async (key) => {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      return Body && Buffer.from(await Body.transformToByteArray());
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
