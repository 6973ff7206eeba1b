import * as z from 'zod';
import { BillingTask } from '../../shared/billing/billing-tasks.ts';
import { logInfo } from '../../shared/logging/log.ts';
import type { MessageWork } from '../../shared/middleware/queue-messages.ts';

const Schedule = z.object({ 'detail-type': z.literal('Scheduled Event') });

/** The work of the function's queue: each message is a task, which `run` runs. */
export const queuedTasks = (run: (task: BillingTask, hasTime: () => boolean) => Promise<unknown>): MessageWork<BillingTask> => ({
  read: ({ body }) => BillingTask.parse(JSON.parse(body)),
  handle: async (task, hasTime) => {
    await run(task, hasTime);
    logInfo('billing_task', { ...task });
  },
  failure: 'billing_task_failed',
  factsOf: (task) => ({ ...task }),
});

/** @throws ZodError for an event that neither the queue nor the schedule sends */
export const handleSchedule = async (sendDueTasks: () => Promise<unknown>, event: unknown): Promise<undefined> => {
  Schedule.parse(event);
  await sendDueTasks();
};
