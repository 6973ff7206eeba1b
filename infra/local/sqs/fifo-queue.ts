import { randomUUID } from 'node:crypto';
import { createBackoff } from '../processes/backoff.ts';
import { createArrivals, InvalidMessage, type LocalQueue, MAX_MESSAGES, type Message } from './local-queue.ts';

// SQS recognizes a repeated message within this time.
const DEDUPLICATION_MS = 5 * 60_000;

export interface FifoQueueTimes {
  /** How long each message waits before it is delivered. */
  delayMs?: number;
  /** How long a repeated message is recognized. Default: five minutes, as in SQS. */
  deduplicationMs?: number;
}

/**
 * A FIFO queue with message groups, in memory, for one consumer. It adds a message unless one of its group with the
 * same deduplication id was added a short time before, and delivers messages in order: none before earlier ones of
 * its group.
 */
export const createFifoQueue = (
  now: () => number,
  { delayMs = 0, deduplicationMs = DEDUPLICATION_MS }: FifoQueueTimes = {},
): LocalQueue => {
  const messages = new Set<Message>();
  const arrivals = createArrivals();
  const seen = new Map<string, { id: string; atMs: number }>();

  const forget = (): void => {
    for (const [repeated, { atMs }] of seen) {
      if (now() - atMs < deduplicationMs) return;
      seen.delete(repeated);
    }
  };

  return {
    // The next messages of a group are not delivered while the function handles the ones before.
    maxBatches: 1,
    send({ body, group, deduplicationId, delayMs: ownDelayMs }) {
      if (group === undefined || deduplicationId === undefined)
        throw new InvalidMessage('A FIFO queue needs MessageGroupId and MessageDeduplicationId.');
      if (ownDelayMs !== undefined) throw new InvalidMessage('The parameter DelaySeconds is not valid for a FIFO queue.');
      forget();
      const repeated = JSON.stringify([group, deduplicationId]);
      const known = seen.get(repeated);
      if (known) return known;
      if (messages.size >= MAX_MESSAGES) throw new Error(`The queue has ${MAX_MESSAGES} messages already`);
      const id = randomUUID();
      const times = { sentAtMs: now(), deliveries: 0, dueAtMs: now() + delayMs };
      messages.add({ id, body, group, deduplicationId, ...times, backoff: createBackoff() });
      arrivals.announce();
      seen.set(repeated, { id, atMs: now() });
      return { id };
    },
    receive(most) {
      const due: Message[] = [];
      const waiting = new Set<string | undefined>();
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
    untilFilled: async () => (messages.size === 0 ? arrivals.next() : undefined),
  };
};

/**
 * The times of a queue whose delay is capped. The time in which a repeated message is recognized shrinks with it: a
 * caller that sends a message once per delay can still do that.
 * @param delayMs as deployed
 */
export const cappedTimes = (delayMs: number, capMs: number): FifoQueueTimes =>
  delayMs > capMs ? { delayMs: capMs, deduplicationMs: capMs } : { delayMs };
