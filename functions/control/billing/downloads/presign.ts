import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createBillingClient } from '../../../../shared/billing/billing-files.ts';
import type { SignDownload } from './download.ts';

/** Signs URLs of a bucket's files (https://docs.aws.amazon.com/AmazonS3/latest/userguide/ShareObjectPreSignedURL.html). */
export const createPresign = (bucket: string, seconds: number): SignDownload => {
  const client = createBillingClient();
  return (key, name) =>
    getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key, ResponseContentDisposition: `attachment; filename="${name}"` }), {
      expiresIn: seconds,
    });
};
