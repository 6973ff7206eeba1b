import { createHmac } from 'node:crypto';
import type { AwsCredentials } from '../../../../shared/aws/credentials.ts';
import { ALGORITHM, amzDateOf, scopeOf, signingKeyOf } from '../../../../shared/aws/signer.ts';

/** The content of a form's upload: this key, this type and exactly this many bytes. */
export interface Upload {
  bucket: string;
  key: string;
  contentType: string;
  bytes: number;
  expiresAtMs: number;
}

/**
 * Returns the fields of a form with which anyone who has it can upload one file with `POST` until it expires
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTConstructPolicy.html). The policy has every field and
 * the exact size, so S3 accepts nothing else. The file must be the last field, `file`.
 */
export const uploadFields = (
  { bucket, key, contentType, bytes, expiresAtMs }: Upload,
  { accessKeyId, secretAccessKey, sessionToken }: AwsCredentials,
  region: string,
  nowMs: number,
): Record<string, string> => {
  const amzDate = amzDateOf(nowMs);
  const scope = scopeOf(amzDate, region, 's3');
  const fields = {
    key,
    'Content-Type': contentType,
    'x-amz-algorithm': ALGORITHM,
    'x-amz-credential': `${accessKeyId}/${scope.join('/')}`,
    'x-amz-date': amzDate,
    ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
  };
  const conditions = [
    { bucket },
    ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
    ['content-length-range', bytes, bytes],
  ];
  const policy = Buffer.from(JSON.stringify({ expiration: new Date(expiresAtMs).toISOString(), conditions })).toString('base64');
  const signature = createHmac('sha256', signingKeyOf(secretAccessKey, scope)).update(policy).digest('hex');
  return { ...fields, policy, 'x-amz-signature': signature };
};
