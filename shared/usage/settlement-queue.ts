import * as z from 'zod';
import { createMessageQueue } from '../aws/message-queue.ts';
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

// JSON has no bigints, so the cost is text.
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

// SQS rejects a message with one of these (API_SendMessage), and callers can send them in `user` and `metadata`.
const REJECTED = /[\uFFFE\uFFFF]/g;

/** A settlement as JSON, in characters that SQS accepts. */
export const toMessage = ({ event, limiterId, shards }: QueuedSettlement): string =>
  JSON.stringify({ event: { ...event, cost_nanos: event.cost_nanos.toString() }, limiter_id: limiterId, shards }).replace(
    REJECTED,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );

/** Parses a message. @throws Error if the text is not a settlement, which is our own bug */
export const readMessage = (text: string): QueuedSettlement => {
  const { event, limiter_id: limiterId, shards } = Message.parse(JSON.parse(text));
  return { event, limiterId, shards };
};

/** The queue at a URL: the settlements of a request are delivered in the order in which they were sent. */
export const createSettlementQueue = (url: string): SettlementQueue => {
  const queue = createMessageQueue(url);
  return {
    send: async (settlement) => {
      const { request_id, admitted_at, outcome } = settlement.event;
      const body = toMessage(settlement);
      await queue.send({ body, group: request_id, deduplicationId: `${request_id}.${admitted_at}.${outcome}` });
    },
  };
};
