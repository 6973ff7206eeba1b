import type { Readable } from 'node:stream';

/**
 * Reads a stream to its end.
 * @throws Error if it fails or is longer than maxBytes (the rest is read and discarded)
 */
export const collect = async (source: Readable, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
  }
  if (length > maxBytes) throw new Error(`The body has ${length} bytes; the limit is ${maxBytes}`);
  return Buffer.concat(chunks);
};
