import { randomUUID } from 'node:crypto';
import { createBackoff } from '../processes/backoff.ts';

/** SQS recognizes a repeated message within this time. */
const DEDUPLICATION_MS = 5 * 60_000;
const MAX_MESSAGES = 100_000;

interface NewMessage {
  body: string;
  group: string;
  deduplicationId: string;
}

export interface Message extends NewMessage {
  id: string;
  sentAtMs: number;
  /** How often it was delivered. */
  deliveries: number;
  /** It is not delivered before. */
  dueAtMs: number;
  backoff: ReturnType<typeof createBackoff>;
}

export interface FifoQueueTimes {
  /** How long each message waits before it is delivered. */
  delayMs?: number;
  /** How long a repeated message is recognized. Default: five minutes, as in SQS. */
  deduplicationMs?: number;
}

/** A FIFO queue with message groups, in memory, for one consumer. Times are those of `now`, in ms. */
export interface FifoQueue {
  /** Adds a message, unless one with the same deduplication id was added a short time before. @throws Error if the queue is full */
  send(message: NewMessage): { id: string };
  /** Messages to deliver now, in order, and not before earlier ones of their groups. */
  receive(most: number): Message[];
  remove(message: Message): void;
  /** Delivers a message again, after a growing delay. */
  retry(message: Message): void;
}

export const createFifoQueue = (now: () => number, { delayMs = 0, deduplicationMs = DEDUPLICATION_MS }: FifoQueueTimes = {}): FifoQueue => {
  const messages = new Set<Message>();
  const seen = new Map<string, { id: string; atMs: number }>();

  const forget = (): void => {
    for (const [deduplicationId, { atMs }] of seen) {
      if (now() - atMs < deduplicationMs) return;
      seen.delete(deduplicationId);
    }
  };

  return {
    send(message) {
      forget();
      const known = seen.get(message.deduplicationId);
      if (known) return known;
      if (messages.size >= MAX_MESSAGES) throw new Error(`The queue has ${MAX_MESSAGES} messages already`);
      const id = randomUUID();
      messages.add({ ...message, id, sentAtMs: now(), deliveries: 0, dueAtMs: now() + delayMs, backoff: createBackoff() });
      seen.set(message.deduplicationId, { id, atMs: now() });
      return { id };
    },
    receive(most) {
      const due: Message[] = [];
      const waiting = new Set<string>();
      for (const message of messages) {
        if (due.length === most) break;
        if (message.dueAtMs > now()) waiting.add(message.group);
        if (waiting.has(message.group)) continue;
        message.deliveries++;
        due.push(message);
      }
      return due;
    },
    remove: (message) => void messages.delete(message),
    retry(message) {
      message.dueAtMs = now() + message.backoff.nextDelayMs();
    },
  };
};

/**
 * The times of a queue whose delay is capped. The time in which a repeated message is recognized shrinks with it: a caller that sends a message once per
 * delay can still do that.
 * @param delayMs as deployed
 */
export const cappedTimes = (delayMs: number, capMs: number): FifoQueueTimes =>
  delayMs > capMs ? { delayMs: capMs, deduplicationMs: capMs } : { delayMs };
