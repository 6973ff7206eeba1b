import * as z from 'zod';
import { type DelayQueue, MAX_DELAY_SECONDS } from '../../shared/aws/message-queue.ts';
import { SECOND_MS } from '../../shared/time/units.ts';

// The number of times that it was postponed because its organization's share was in use.
const Postponed = z.int().min(0).optional();

// Each message can arrive more than once. One for finished work does nothing.
const QueuedWork = z.union([
  z.object({ webhook: z.string(), delivery: z.string(), due_at: z.int(), postponed: Postponed }),
  z.object({ organization: z.string(), mail: z.string(), due_at: z.int(), postponed: Postponed }),
  // The id of a notification that is put on EventBridge's bus.
  z.object({ organization: z.string(), bus_event: z.string(), due_at: z.int(), postponed: Postponed }),
]);
/** `due_at` is in ms since the epoch. */
export type QueuedWork = z.infer<typeof QueuedWork>;

/** Parses a message of the queue. @throws ZodError or SyntaxError if it isn't one */
export const readMessage = (body: string): QueuedWork => QueuedWork.parse(JSON.parse(body));

export interface MessageDependencies {
  queue: DelayQueue;
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/** Sends a message that arrives when it is due, or after SQS's longest delay; then it must be sent again. */
export const sendMessage = ({ queue, now }: MessageDependencies, message: QueuedWork): Promise<void> => {
  const waitSeconds = Math.ceil(Math.max(0, message.due_at - now()) / SECOND_MS);
  return queue.send({ body: JSON.stringify(message), delaySeconds: Math.min(MAX_DELAY_SECONDS, waitSeconds) });
};

/**
 * Sends a message again because its organization's share is in use: after a second at first, then after twice as long
 * each time, so that many messages of one organization take little of the function's time.
 */
export const postpone = (deps: MessageDependencies, message: QueuedWork): Promise<void> => {
  const { postponed = 0 } = message;
  const waitMs = Math.ceil(Math.min(MAX_DELAY_SECONDS, 2 ** postponed * (1 + deps.random())) * SECOND_MS);
  return sendMessage(deps, { ...message, due_at: deps.now() + waitMs, postponed: postponed + 1 });
};
