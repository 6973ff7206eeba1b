import * as z from 'zod';
import { BillingTask } from '../../shared/billing/billing-tasks.ts';

/** What the function `billing` is invoked with: by its queue and by its schedule. */
export type BillingEvent = { kind: 'tasks'; messages: { messageId: string; task: BillingTask }[] } | { kind: 'schedule' };

const Messages = z.object({
  Records: z.array(
    z.object({
      messageId: z.string(),
      body: z
        .string()
        .transform((text): unknown => JSON.parse(text))
        .pipe(BillingTask),
    }),
  ),
});
const Schedule = z.object({ 'detail-type': z.literal('Scheduled Event') });

const Event = z.union([
  Messages.transform(
    ({ Records }): BillingEvent => ({ kind: 'tasks', messages: Records.map(({ messageId, body: task }) => ({ messageId, task })) }),
  ),
  Schedule.transform((): BillingEvent => ({ kind: 'schedule' })),
]);

/** @throws Error for an event that neither the queue nor the schedule sends */
export const readEvent = (event: unknown): BillingEvent => Event.parse(event);
