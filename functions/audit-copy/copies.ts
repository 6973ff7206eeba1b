import { PutObjectCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';

const MAX_PUT_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 5_000;

export interface Copies {
  /** Stores a text under a key, unless the key is taken. */
  add(key: string, text: string): Promise<void>;
}

/** Returns the bucket of copies. Its default retention applies to every object. */
export const createCopies = (bucket: string): Copies => {
  const client = new S3Client({
    maxAttempts: MAX_PUT_ATTEMPTS,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECTION_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    }),
  });
  return {
    async add(key, text) {
      const object = { Bucket: bucket, Key: key, Body: text, ContentType: 'application/json', IfNoneMatch: '*' };
      try {
        await client.send(new PutObjectCommand(object));
      } catch (error) {
        // An earlier delivery of the record has stored it.
        if (!(error instanceof S3ServiceException && error.name === 'PreconditionFailed')) throw error;
      }
    },
  };
};
