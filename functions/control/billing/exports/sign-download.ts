import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

const EXPIRES_SECONDS = 300;

/** Signs URLs that download files of a bucket for five minutes. */
export const createSignDownload =
  (client: S3Client, Bucket: string) =>
  (Key: string, name: string): Promise<string> =>
    getSignedUrl(client, new GetObjectCommand({ Bucket, Key, ResponseContentDisposition: `attachment; filename="${name}"` }), {
      expiresIn: EXPIRES_SECONDS,
    });
