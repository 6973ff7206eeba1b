import * as z from 'zod';

const Message = z.object({
  /** The destination's. */
  url: z.url(),
  /** An export's body, compressed with gzip, in base64. */
  gzip: z.base64(),
});

/** The message of a destination's queue with a body to send there. */
export const writeMessage = (url: string, body: Buffer): string => JSON.stringify({ url, gzip: body.toString('base64') });

export const readMessage = (text: string): { url: string; body: Buffer } => {
  const { url, gzip } = Message.parse(JSON.parse(text));
  return { url, body: Buffer.from(gzip, 'base64') };
};
