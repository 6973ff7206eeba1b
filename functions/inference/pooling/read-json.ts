import { UnusableReply } from './unusable-reply.ts';

/**
 * Reads a runtime's reply: an object or an array.
 * @throws UnusableReply, also for NaN, which Python writes and JSON lacks
 */
export const readJson = (reply: Buffer): object => {
  let value: unknown;
  try {
    value = JSON.parse(reply.toString());
  } catch {
    throw new UnusableReply('The reply is not JSON.');
  }
  if (typeof value !== 'object' || value === null) throw new UnusableReply('The reply is not an object.');
  return value;
};
