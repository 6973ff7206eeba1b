import type { createBackoff } from '../processes/backoff.ts';

/**
 * The input of SendMessage. A FIFO queue needs `group` and `deduplicationId`, and a standard queue can have a delay.
 */
export interface NewMessage {
  body: string;
  group?: string | undefined;
  deduplicationId?: string | undefined;
  delayMs?: number | undefined;
}

/** A message in a queue. Times are those of the queue's clock, in ms. */
export interface Message {
  id: string;
  body: string;
  group?: string;
  deduplicationId?: string;
  sentAtMs: number;
  /** How often it was delivered. */
  deliveries: number;
  /** It is not delivered before. */
  dueAtMs: number;
  backoff: ReturnType<typeof createBackoff>;
}

/** SQS rejects a message with these parameters. */
export class InvalidMessage extends Error {}

/** A queue in memory. */
export interface LocalQueue {
  /** How many batches are delivered at the same time. */
  readonly maxBatches: number;
  /** Adds a message. @throws InvalidMessage; Error if the queue is full */
  send(message: NewMessage): { id: string };
  /** Messages to deliver now. */
  receive(most: number): Message[];
  remove(message: Message): void;
  /** Delivers a message again, after a growing delay. */
  retry(message: Message): void;
  /** Resolves at once if the queue has messages, due or not, or else with the next one. */
  untilFilled(): Promise<void>;
}

/** Lets the receivers of an empty queue wait without polling it. */
export const createArrivals = () => {
  let waiting: (() => void)[] = [];
  return {
    next: (): Promise<void> => new Promise((resolve) => void waiting.push(resolve)),
    announce: (): void => {
      const resolved = waiting;
      waiting = [];
      for (const resolve of resolved) resolve();
    },
  };
};

export const MAX_MESSAGES = 100_000;
