import { createHash } from 'node:crypto';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { RenderedFile } from './invoice.ts';

const MAX_CALL_ATTEMPTS = 3;
const CONNECTION_TIMEOUT_MS = 1_000;
// A connection without data for longer than this is considered lost.
const SILENCE_TIMEOUT_MS = 10_000;

/** The bucket with the files of invoices, their inputs and exports. */
export interface BillingFiles {
  /** Stores a file. Keys follow from the content or its document, so storing it again changes nothing. */
  put(key: string, content: Uint8Array, contentType: string): Promise<void>;
  /** The content of a file that exists. @throws Error if it does not */
  get(key: string): Promise<Buffer>;
}

/** A client of S3; region, credentials and endpoint default to the environment's. */
export const createBillingClient = (): S3Client =>
  new S3Client({
    maxAttempts: MAX_CALL_ATTEMPTS,
    requestHandler: new NodeHttpHandler({ connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SILENCE_TIMEOUT_MS }),
  });

export const createBillingFiles = (client: S3Client, bucket: string): BillingFiles => ({
  put: async (Key, Body, ContentType) => {
    await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body, ContentType }));
  },
  get: async (Key) => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key }));
    if (!Body) throw new Error(`S3 returned no content for ${Key}.`);
    return Buffer.from(await Body.transformToByteArray());
  },
});

export const sha256Of = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/** Stores a file and describes it. */
export const putFile = async (files: BillingFiles, key: string, content: Uint8Array, contentType: string): Promise<RenderedFile> => {
  await files.put(key, content, contentType);
  return { key, sha256: sha256Of(content), bytes: content.length };
};

/** The content of a file, which must be what was stored. @throws Error if it is not */
export const getFile = async (files: BillingFiles, { key, sha256 }: Pick<RenderedFile, 'key' | 'sha256'>): Promise<Buffer> => {
  const content = await files.get(key);
  const found = sha256Of(content);
  if (found !== sha256) throw new Error(`The file ${key} was changed: its SHA-256 is ${found}, not ${sha256}.`);
  return content;
};
