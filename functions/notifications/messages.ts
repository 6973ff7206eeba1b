import * as z from 'zod';
import { type DelayQueue, MAX_DELAY_SECONDS } from '../../shared/aws/message-queue.ts';

/** Work for this function. Each can arrive more than once; one for something that is already done does nothing. */
const Message = z.union([
  z.object({ webhook: z.string(), delivery: z.string(), due_at: z.int() }),
  z.object({ organization: z.string(), mail: z.string(), due_at: z.int() }),
]);
/** `due_at` is in ms since the epoch. */
export type Message = z.infer<typeof Message>;

/** @throws ZodError, SyntaxError for anything else */
export const readMessage = (body: string): Message => Message.parse(JSON.parse(body));

const SECOND_MS = 1_000;

export interface MessageDependencies {
  queue: DelayQueue;
  now: () => number;
}

/** Sends a message so that it arrives when it is due, or as late as SQS can hold it; then it must be sent again. */
export const sendMessage = ({ queue, now }: MessageDependencies, message: Message): Promise<void> => {
  const waitSeconds = Math.ceil(Math.max(0, message.due_at - now()) / SECOND_MS);
  return queue.send({ body: JSON.stringify(message), delaySeconds: Math.min(MAX_DELAY_SECONDS, waitSeconds) });
};
