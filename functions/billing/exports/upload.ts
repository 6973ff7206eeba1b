import { createHash } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { ExportPart } from '../../../shared/billing/export.ts';

/** The upload was aborted, completed, or removed by the bucket's lifecycle. */
export class UploadGone extends Error {}

const isNamed = (error: unknown, name: string): boolean => error instanceof S3ServiceException && error.name === name;

// S3 replies 403 for a missing object if the function can't list the bucket.
const MISSING = [403, 404];
const isMissing = (error: unknown): boolean => error instanceof S3ServiceException && MISSING.includes(error.$metadata.httpStatusCode ?? 0);

const whileItExists = async <Result>(call: Promise<Result>): Promise<Result> => {
  try {
    return await call;
  } catch (error) {
    throw isNamed(error, 'NoSuchUpload') ? new UploadGone() : error;
  }
};

/**
 * Files that are uploaded in parts over several invocations
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html).
 */
export const createUploads = (client: S3Client, Bucket: string) => ({
  create: async (Key: string, ContentType: string): Promise<string> => {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType }));
    if (UploadId === undefined) throw new Error(`S3 returned no id for the upload of ${Key}.`);
    return UploadId;
  },

  /** Uploads a part, or replaces it. @throws UploadGone */
  putPart: async (Key: string, UploadId: string, number: number, Body: Uint8Array): Promise<ExportPart> => {
    const { ETag } = await whileItExists(client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: number, Body })));
    if (ETag === undefined) throw new Error(`S3 returned no tag for part ${number} of ${Key}.`);
    return { number, etag: ETag, bytes: Body.length };
  },

  /** Joins the parts. It can be repeated. @throws UploadGone if the upload is gone and no file of this size exists */
  complete: async (Key: string, UploadId: string, parts: readonly ExportPart[]): Promise<void> => {
    const MultipartUpload = { Parts: parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag })) };
    try {
      await whileItExists(client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload })));
    } catch (error) {
      if (!(error instanceof UploadGone)) throw error;
      // An earlier invocation may have completed it.
      const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key })).catch((missing: unknown) => {
        throw isMissing(missing) ? error : missing;
      });
      if (ContentLength !== parts.reduce((sum, { bytes }) => sum + bytes, 0)) throw error;
    }
  },

  /** Removes the parts, if the upload still exists. */
  abort: async (Key: string, UploadId: string): Promise<void> => {
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((error: unknown) => {
      if (!isNamed(error, 'NoSuchUpload')) throw error;
    });
  },

  putTail: async (Key: string, Body: Uint8Array): Promise<void> => {
    await client.send(new PutObjectCommand({ Bucket, Key, Body }));
  },

  getTail: async (Key: string): Promise<Uint8Array> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    if (!Body) throw new Error(`S3 returned no content for ${Key}.`);
    return Body.transformToByteArray();
  },

  /** The size of a file and the SHA-256 (hex) of its content, which is read once. */
  digest: async (Key: string): Promise<{ bytes: number; sha256: string }> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    if (!Body) throw new Error(`S3 returned no content for ${Key}.`);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { bytes, sha256: hash.digest('hex') };
  },
});

export type Uploads = ReturnType<typeof createUploads>;
