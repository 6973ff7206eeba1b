import type { IncomingMessage } from 'node:http';

/**
 * Reads a request's body.
 * @param maxBytes reading stops after this many bytes
 * @returns the bytes, or undefined if the body is longer
 * @throws Error if the caller disconnects before the end
 */
export const readBody = (request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> => {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      request.pause();
      request.removeAllListeners('data');
      resolve(undefined);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('close', () => reject(new Error('The caller disconnected before the end of the request')));
  });
};
