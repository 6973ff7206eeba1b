import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

/** The response that is replayed when a request is repeated. */
export interface StoredResult {
  /** The id of the request that was charged. */
  requestId: string;
  contentType: string;
  body: string;
  /** The value of the header `x-sluice-ignored`, if the response had one. */
  ignored?: string;
  /** The value of the header `x-sluice-fallback`, if the response had one. */
  fallback?: number;
}

// Compressed. A DynamoDB item can have 400 kB, and every kB is billed.
const MAX_STORED_BYTES = 256 * 1024;
// Uncompressed. The body must fit into the memory of a small function.
const MAX_OPENED_BYTES = 16 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/**
 * Compresses a body to store it; undefined if it is too large. Gzip, because Brotli at the same speed saves 3 %, and at
 * its default quality takes fifty times as long.
 */
export const pack = async (body: string): Promise<Uint8Array | undefined> => {
  if (body.length > MAX_OPENED_BYTES || Buffer.byteLength(body) > MAX_OPENED_BYTES) return undefined;
  const content = await compress(body);
  return content.byteLength > MAX_STORED_BYTES ? undefined : content;
};

/** Decompresses a stored body. */
export const unpack = async (content: Uint8Array): Promise<string> =>
  (await decompress(content, { maxOutputLength: MAX_OPENED_BYTES })).toString();
