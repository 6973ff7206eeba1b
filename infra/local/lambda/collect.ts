import type { Readable } from 'node:stream';

/**
 * Reads a stream to its end.
 * @throws Error when it is longer than maxBytes (the rest is thrown away), or when it fails
 */
export const collect = async (source: Readable, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
  }
  if (length > maxBytes) throw new Error(`A body of ${length} bytes is over the bound of ${maxBytes}`);
  return Buffer.concat(chunks);
};
