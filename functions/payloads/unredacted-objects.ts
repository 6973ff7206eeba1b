import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const CONNECTION_TIMEOUT_MS = 1_000;
const SILENCE_TIMEOUT_MS = 5_000;
const MAX_CALL_ATTEMPTS = 3;
// More than a body that Lambda takes and a stream that is collected.
const MAX_OBJECT_BYTES = 32_000_000;

/** The payloads that wait for redaction. */
export interface UnredactedObjects {
  /** @returns undefined if there is no such object. @throws Error if it is too large */
  get: (key: string) => Promise<Buffer | undefined>;
  delete: (key: string) => Promise<void>;
}

// Without the permission to list a bucket, S3 answers 403 for an object that doesn't exist.
const isMissing = (error: unknown): boolean =>
  error instanceof NoSuchKey || (error instanceof S3ServiceException && error.name === 'AccessDenied');

export const createUnredactedObjects = (bucket: string): UnredactedObjects => {
  const client = new S3Client({
    maxAttempts: MAX_CALL_ATTEMPTS,
    requestHandler: new NodeHttpHandler({ connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS }),
  });
  return {
    get: async (key) => {
      try {
        const { Body, ContentLength = 0 } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
        if (ContentLength > MAX_OBJECT_BYTES)
          throw new Error(`The payload ${key} has ${ContentLength} bytes, more than ${MAX_OBJECT_BYTES}.`);
        return Body && Buffer.from(await Body.transformToByteArray());
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    delete: async (key) => {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    },
  };
};
