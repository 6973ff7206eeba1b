import { hash } from 'node:crypto';
import { createCaller } from '../aws/caller.ts';
import { bucketAddress } from '../aws/endpoint.ts';
import { environmentVariable } from '../environment/environment-variable.ts';

const CONNECT_MS = 1_000;
// No caller waits for an object, but the function has a timeout.
const ALL_ATTEMPTS_TIMEOUT_MS = 5_000;
const MAX_PUT_ATTEMPTS = 2;
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_SOCKETS = 16;

interface NewObject {
  /** Only letters, digits, `_`, `-`, `.` and `/`, which need no encoding. */
  key: string;
  body: Buffer;
  contentType: string;
  tags?: Readonly<Record<string, string>>;
}

/**
 * Stores an object with S3's `PutObject` (https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html).
 * @throws AwsError if S3 rejects it; a network error or a timeout if S3 can't be reached within 5 s
 */
export type PutObject = (object: NewObject) => Promise<void>;

/** Region, credentials and endpoint come from the environment. Connections are kept alive. */
export const createPutObject = (bucket: string): PutObject => {
  const { endpoint, root } = bucketAddress(bucket, environmentVariable('AWS_REGION'));
  const caller = createCaller({
    service: 's3',
    endpoint,
    connectMs: CONNECT_MS,
    silenceMs: ALL_ATTEMPTS_TIMEOUT_MS,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return ({ key, body, contentType, tags }) => {
    const headers = [
      ['content-type', contentType],
      ['x-amz-content-sha256', hash('sha256', body)],
      ...(tags ? [['x-amz-tagging', new URLSearchParams(tags).toString()] as const] : []),
    ] as const;
    const signal = AbortSignal.timeout(ALL_ATTEMPTS_TIMEOUT_MS);
    return caller.call({ method: 'PUT', path: root + key, headers, body, signal }, MAX_PUT_ATTEMPTS, () => undefined);
  };
};
