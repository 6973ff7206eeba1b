import { createCaller } from './caller.ts';

/** A message of a FIFO queue. */
export interface QueueMessage {
  body: string;
  /** The messages of a group are delivered in the order in which they were sent, the next one after the last one was processed. */
  group: string;
  /** Another message with the same id within five minutes adds nothing. */
  deduplicationId: string;
}

export interface MessageQueue {
  /** Adds a message. @throws Error if the queue can't be reached or rejects the message */
  send(message: QueueMessage): Promise<void>;
}

const CONNECT_MS = 1_000;
const SILENCE_MS = 3_000;
const MAX_ATTEMPTS = 3;
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_SOCKETS = 16;

/**
 * The FIFO queue at a URL, in the region of the environment, with SQS's call SendMessage
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html).
 */
export const createMessageQueue = (url: string): MessageQueue => {
  const caller = createCaller({
    service: 'sqs',
    connectMs: CONNECT_MS,
    silenceMs: SILENCE_MS,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return {
    send: async ({ body: MessageBody, group, deduplicationId }) => {
      const body = JSON.stringify({ QueueUrl: url, MessageBody, MessageGroupId: group, MessageDeduplicationId: deduplicationId });
      const headers = [
        ['content-type', 'application/x-amz-json-1.0'],
        ['x-amz-target', 'AmazonSQS.SendMessage'],
      ] as const;
      await caller.call({ path: '/', headers, body }, MAX_ATTEMPTS, () => undefined);
    },
  };
};
