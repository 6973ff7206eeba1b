import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { environmentCredentials } from '../../../../shared/aws/credentials.ts';
import { bucketAddress } from '../../../../shared/aws/endpoint.ts';
import { createBillingClient } from '../../../../shared/billing/billing-files.ts';
import { environmentVariable } from '../../../../shared/environment/environment-variable.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { downloadDisposition } from './file-name.ts';
import { type Announced, DOWNLOAD_SECONDS, type TicketFiles, UPLOAD_SECONDS } from './ticket-files.ts';
import { uploadFields } from './upload-form.ts';

// The content type of every stored file, so that no browser shows one.
const BYTES = 'application/octet-stream';

const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof S3ServiceException && statuses.includes(error.$metadata.httpStatusCode ?? 0);

/** Returns the files of a bucket; region, credentials and endpoint are the environment's. */
export const createS3TicketFiles = (bucket: string, client = createBillingClient()): TicketFiles => {
  // Undefined: there is no object. Without the permission to list a bucket, S3 answers 403 for that.
  const head = async (key: string): Promise<HeadObjectCommandOutput | undefined> => {
    try {
      return await client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }));
    } catch (error) {
      if (hasStatus(error, 403, 404)) return undefined;
      throw error;
    }
  };

  // Copies the version that `head` returned. False if the upload was replaced since, or if there is a copy.
  const copy = async (from: string, to: string, seen: string): Promise<boolean> => {
    try {
      await client.send(
        new CopyObjectCommand({
          Bucket: bucket,
          Key: to,
          CopySource: `${bucket}/${from}`,
          CopySourceIfMatch: seen,
          IfNoneMatch: '*',
          MetadataDirective: 'REPLACE',
          ContentType: BYTES,
          ContentDisposition: 'attachment',
        }),
      );
      return true;
    } catch (error) {
      // 409: another copy to the same key is being made.
      if (hasStatus(error, 404, 409, 412)) return false;
      throw error;
    }
  };

  return {
    signUpload: async (key, file, nowMs) => {
      const region = environmentVariable('AWS_REGION');
      const { endpoint, root } = bucketAddress(bucket, region);
      const upload = { bucket, key, ...file, expiresAtMs: nowMs + UPLOAD_SECONDS * SECOND_MS };
      return { url: endpoint + root, fields: uploadFields(upload, environmentCredentials(), region, nowMs) };
    },

    keep: async (from, to, { contentType, bytes }: Announced) => {
      const uploaded = await head(from);
      const isAnnounced = uploaded?.ContentType === contentType && uploaded.ContentLength === bytes;
      if (isAnnounced && uploaded.ETag && (await copy(from, to, uploaded.ETag))) return true;
      // An earlier request made a copy, and ended before its message was written.
      return (await head(to))?.ContentLength === bytes;
    },

    signDownload: (key, name, nowMs) =>
      getSignedUrl(
        client,
        new GetObjectCommand({
          Bucket: bucket,
          Key: key,
          ResponseContentDisposition: downloadDisposition(name),
          ResponseContentType: BYTES,
        }),
        { expiresIn: DOWNLOAD_SECONDS, signingDate: new Date(nowMs) },
      ),
  };
};
