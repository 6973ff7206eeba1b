import * as z from 'zod';
import { createMessageQueue } from '../aws/message-queue.ts';

/** The prefix of content before its redaction. It is deleted after it, and by the bucket after a day. */
export const UNREDACTED = 'unredacted/';

/** The most payloads of an organization that wait for redaction, of those that were sent in the same hour. */
export const MAX_WAITING = 100;

/** A payload that waits for redaction. */
export interface WaitingPayload {
  organization: string;
  requestId: string;
  /** When its place was taken. */
  sentAtMs: number;
}

const Message = z.object({ organization: z.string(), request_id: z.string(), sent_at_ms: z.number() });

/** The keys of the unredacted payloads of an organization begin with this. */
export const unredactedPrefix = (organization: string): string => `${UNREDACTED}${organization}/`;

export const unredactedKeyOf = ({ organization, requestId }: Pick<WaitingPayload, 'organization' | 'requestId'>): string =>
  `${unredactedPrefix(organization)}${requestId}`;

/** @throws Error if the text is not a message of the queue, which is our own bug */
export const readMessage = (text: string): WaitingPayload => {
  const { organization, request_id: requestId, sent_at_ms: sentAtMs } = Message.parse(JSON.parse(text));
  return { organization, requestId, sentAtMs };
};

/** Sends a payload to its redaction. @throws Error if the queue can't be reached or rejects the message */
export type SendPayload = (payload: WaitingPayload) => Promise<void>;

/**
 * The queue at a URL. The payloads of an organization are a group, so that no more than one of its batches is
 * redacted at a time.
 */
export const createSendPayload = (url: string): SendPayload => {
  const queue = createMessageQueue(url);
  return ({ organization, requestId, sentAtMs }) => {
    const body = JSON.stringify({ organization, request_id: requestId, sent_at_ms: sentAtMs } satisfies z.input<typeof Message>);
    return queue.send({ body, group: organization, deduplicationId: requestId });
  };
};
