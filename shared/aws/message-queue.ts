import { createCaller } from './caller.ts';

/** A message of a FIFO queue. */
export interface QueueMessage {
  body: string;
  /**
   * The messages of a group are delivered in the order in which they were sent, the next one after the last one was
   * processed.
   */
  group: string;
  /** Another message of the group with the same id within five minutes adds nothing. */
  deduplicationId: string;
}

export interface MessageQueue {
  /** Adds a message. @throws Error if the queue can't be reached or rejects the message */
  send(message: QueueMessage): Promise<void>;
}

/** A message of a standard queue: it can be delivered more than once, and in any order. */
export interface DelayedMessage {
  body: string;
  /** Whole seconds until it is delivered, at most `MAX_DELAY_SECONDS`. */
  delaySeconds: number;
}

export interface DelayQueue {
  /** Adds a message. @throws Error if the queue can't be reached or rejects the message */
  send(message: DelayedMessage): Promise<void>;
}

/** SQS's limit. */
export const MAX_DELAY_SECONDS = 900;

const CONNECT_MS = 1_000;
const SILENCE_MS = 3_000;
const MAX_SEND_ATTEMPTS = 3;
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_SOCKETS = 16;

// SQS's call SendMessage: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html.
const createSender = (url: string) => {
  const caller = createCaller({
    service: 'sqs',
    connectMs: CONNECT_MS,
    silenceMs: SILENCE_MS,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return async (message: object): Promise<void> => {
    const body = JSON.stringify({ QueueUrl: url, ...message });
    const headers = [
      ['content-type', 'application/x-amz-json-1.0'],
      ['x-amz-target', 'AmazonSQS.SendMessage'],
    ] as const;
    await caller.call({ path: '/', headers, body }, MAX_SEND_ATTEMPTS, () => undefined);
  };
};

/** The FIFO queue at a URL. */
export const createMessageQueue = (url: string): MessageQueue => {
  const send = createSender(url);
  return {
    send: ({ body: MessageBody, group: MessageGroupId, deduplicationId: MessageDeduplicationId }) =>
      send({ MessageBody, MessageGroupId, MessageDeduplicationId }),
  };
};

/** The standard queue at a URL. A message that is sent again after a lost reply is there twice. */
export const createDelayQueue = (url: string): DelayQueue => {
  const send = createSender(url);
  return { send: ({ body: MessageBody, delaySeconds: DelaySeconds }) => send({ MessageBody, DelaySeconds }) };
};
