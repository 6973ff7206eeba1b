import * as z from 'zod';

const Message = z.object({
  /** The destination's URL. */
  url: z.url(),
  /** The compressed body of an export, in base64. */
  gzip: z.base64(),
});

/** A message of a destination's queue. @param body compressed with gzip */
export const writeMessage = (url: string, body: Buffer): string => JSON.stringify({ url, gzip: body.toString('base64') });

export const readMessage = (text: string): { url: string; body: Buffer } => {
  const { url, gzip } = Message.parse(JSON.parse(text));
  return { url, body: Buffer.from(gzip, 'base64') };
};
