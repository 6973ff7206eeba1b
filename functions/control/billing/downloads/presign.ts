import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createBillingClient } from '../../../../shared/billing/billing-files.ts';

/**
 * Signs URLs of a bucket's files, by key and by the name that browsers save them under
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/ShareObjectPreSignedURL.html).
 */
export const createPresign =
  (bucket: string, seconds: number, client = createBillingClient()) =>
  (key: string, name: string): Promise<string> =>
    getSignedUrl(client, new GetObjectCommand({ Bucket: bucket, Key: key, ResponseContentDisposition: `attachment; filename="${name}"` }), {
      expiresIn: seconds,
    });
