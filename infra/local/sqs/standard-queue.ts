import { randomUUID } from 'node:crypto';
import { createBackoff } from '../processes/backoff.ts';
import { createArrivals, InvalidMessage, type LocalQueue, MAX_MESSAGES, type Message } from './local-queue.ts';

// A slow receiver of one batch does not hold the others. Lambda's minimum is two.
const MAX_BATCHES_AT_ONCE = 4;

/**
 * A standard queue in memory: each message is delivered when its own delay has passed, whatever became of others.
 * @param delayMs of messages without their own
 */
export const createStandardQueue = (now: () => number, { delayMs: commonDelayMs = 0 }: { delayMs?: number } = {}): LocalQueue => {
  const messages = new Set<Message>();
  const arrivals = createArrivals();
  /** Received, and neither removed nor to be delivered again. */
  const delivering = new Set<Message>();

  return {
    maxBatches: MAX_BATCHES_AT_ONCE,
    send({ body, deduplicationId, delayMs = commonDelayMs }) {
      if (deduplicationId !== undefined) throw new InvalidMessage('The parameter MessageDeduplicationId is only valid for FIFO queues.');
      if (messages.size >= MAX_MESSAGES) throw new Error(`The queue has ${MAX_MESSAGES} messages already`);
      const id = randomUUID();
      messages.add({ id, body, sentAtMs: now(), deliveries: 0, dueAtMs: now() + delayMs, backoff: createBackoff() });
      arrivals.announce();
      return { id };
    },
    receive(most) {
      const due = [...messages].filter((message) => message.dueAtMs <= now() && !delivering.has(message)).slice(0, most);
      for (const message of due) {
        message.deliveries++;
        delivering.add(message);
      }
      return due;
    },
    remove(message) {
      messages.delete(message);
      delivering.delete(message);
    },
    retry(message) {
      message.dueAtMs = now() + message.backoff.nextDelayMs();
      delivering.delete(message);
    },
    untilFilled: async () => (messages.size === 0 ? arrivals.next() : undefined),
  };
};
