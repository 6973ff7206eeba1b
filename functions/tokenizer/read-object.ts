import type { Readable } from 'node:stream';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { MAX_FILE_BYTES } from './engine/loaded-tokenizer.ts';
import type { ReadFile } from './tokenizers.ts';

const MAX_READ_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 1_000;
// A connection without data for longer than this is considered lost.
const SILENCE_TIMEOUT_MS = 5_000;
// Including the body.
const ALL_ATTEMPTS_TIMEOUT_MS = 15_000;

/** Reads objects of a bucket as UTF-8 text. Throws the SDK's errors, and an Error for an object of more than 64 MB. */
export const createReadObject = (bucket: string): ReadFile => {
  const client = new S3Client({
    maxAttempts: MAX_READ_ATTEMPTS,
    requestHandler: new NodeHttpHandler({ connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS }),
  });
  return async (key) => {
    const abortSignal = AbortSignal.timeout(ALL_ATTEMPTS_TIMEOUT_MS);
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal });
    const body = Body as Readable;
    const giveUp = (): void => void body.destroy(abortSignal.reason);
    abortSignal.addEventListener('abort', giveUp, { once: true });
    try {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of body as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MAX_FILE_BYTES) throw new Error(`The object ${key} has more than ${MAX_FILE_BYTES} bytes.`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString();
    } finally {
      abortSignal.removeEventListener('abort', giveUp);
    }
  };
};
