import * as z from 'zod';
import { createCaller } from '../aws/caller.ts';
import { UsageEvent } from './event.ts';

/** A settlement that the function `metering` makes: the request's event, and where its key's reservation is. */
export interface QueuedSettlement {
  event: UsageEvent;
  /** The limiter item with the key's reservation. */
  limiterId: string;
  /** The number of the key's shards, over which its events are spread. */
  shards: number;
}

/** The queue of settlements. */
export interface SettlementQueue {
  /** Adds a settlement. @throws Error if the queue can't be reached or rejects the message */
  send(settlement: QueuedSettlement): Promise<void>;
}

/** JSON has no bigints, so the cost is text. */
const Message = z.object({
  event: UsageEvent.extend({
    cost_nanos: z
      .string()
      .regex(/^-?\d+$/)
      .transform(BigInt),
  }),
  limiter_id: z.string(),
  shards: z.int().min(1),
});

export const toMessage = ({ event, limiterId, shards }: QueuedSettlement): string =>
  JSON.stringify({ event: { ...event, cost_nanos: event.cost_nanos.toString() }, limiter_id: limiterId, shards });

/** @throws Error if the text is not a settlement, which is our own bug */
export const readMessage = (text: string): QueuedSettlement => {
  const { event, limiter_id: limiterId, shards } = Message.parse(JSON.parse(text));
  return { event, limiterId, shards };
};

const CONNECT_MS = 1_000;
const SILENCE_MS = 3_000;
const MAX_ATTEMPTS = 3;
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_SOCKETS = 16;

/**
 * The queue at a URL, in the region of the environment, with SQS's call SendMessage
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html). The queue is FIFO: the settlements of a request are
 * delivered in the order in which they were sent, the next one after the last one was made.
 */
export const createSettlementQueue = (url: string): SettlementQueue => {
  const caller = createCaller({
    service: 'sqs',
    connectMs: CONNECT_MS,
    silenceMs: SILENCE_MS,
    maxReplyBytes: MAX_REPLY_BYTES,
    maxSockets: MAX_SOCKETS,
  });
  return {
    send: async (settlement) => {
      const { request_id, admitted_at, outcome } = settlement.event;
      const body = JSON.stringify({
        QueueUrl: url,
        MessageBody: toMessage(settlement),
        MessageGroupId: request_id,
        // A repeated call within five minutes adds nothing.
        MessageDeduplicationId: `${request_id}.${admitted_at}.${outcome}`,
      });
      const headers = [
        ['content-type', 'application/x-amz-json-1.0'],
        ['x-amz-target', 'AmazonSQS.SendMessage'],
      ] as const;
      await caller.call({ path: '/', headers, body }, MAX_ATTEMPTS, () => undefined);
    },
  };
};
