import * as z from 'zod';
import { type DelayQueue, MAX_DELAY_SECONDS } from '../../shared/aws/message-queue.ts';
import { SECOND_MS } from '../../shared/time/units.ts';

/** How often it was sent again because the share of its organization was in use; absent: never. */
const Postponed = z.int().min(0).optional();

/** Work for this function. Each can arrive more than once; one for something that is already done does nothing. */
const Message = z.union([
  z.object({ webhook: z.string(), delivery: z.string(), due_at: z.int(), postponed: Postponed }),
  z.object({ organization: z.string(), mail: z.string(), due_at: z.int(), postponed: Postponed }),
]);
/** `due_at` is in ms since the epoch. */
export type Message = z.infer<typeof Message>;

/** @throws ZodError, SyntaxError for anything else */
export const readMessage = (body: string): Message => Message.parse(JSON.parse(body));

export interface MessageDependencies {
  queue: DelayQueue;
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
}

/** Sends a message so that it arrives when it is due, or as late as SQS can hold it; then it must be sent again. */
export const sendMessage = ({ queue, now }: MessageDependencies, message: Message): Promise<void> => {
  const waitSeconds = Math.ceil(Math.max(0, message.due_at - now()) / SECOND_MS);
  return queue.send({ body: JSON.stringify(message), delaySeconds: Math.min(MAX_DELAY_SECONDS, waitSeconds) });
};

/**
 * Sends a message again because the share of its organization is in use: after a second first, and then after twice
 * as long each time, so that many messages of one organization take little time of the function.
 */
export const postpone = (deps: MessageDependencies, message: Message): Promise<void> => {
  const { postponed = 0 } = message;
  const waitMs = Math.ceil(Math.min(MAX_DELAY_SECONDS, 2 ** postponed * (1 + deps.random())) * SECOND_MS);
  return sendMessage(deps, { ...message, due_at: deps.now() + waitMs, postponed: postponed + 1 });
};
