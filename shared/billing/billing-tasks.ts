import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { MessageQueue } from '../aws/message-queue.ts';

/** Work for the function `billing`. Each kind can be repeated: a second time changes nothing. */
export const BillingTask = z.discriminatedUnion('task', [
  /**
   * Closes a UTC month, such as `2026-10`, of an organization: makes its invoice, and issues it if the seller's
   * invoices are issued automatically.
   */
  z.object({ task: z.literal('close'), organization: z.string(), month: z.string() }),
  /** Makes the files of an issued invoice or credit note. */
  z.object({ task: z.literal('render'), organization: z.string(), document: z.string() }),
  /**
   * Compares the credit and budgets of an organization, and the budgets of some of its keys and projects, with the
   * thresholds of its alerts. Absent: no projects.
   */
  z.object({
    task: z.literal('alert'),
    organization: z.string(),
    keys: z.array(z.string()).max(1_000),
    projects: z.array(z.string()).max(1_000).optional(),
  }),
  /** Removes what is left of grants that have expired. */
  z.object({ task: z.literal('expire'), organization: z.string() }),
  /** Continues an export of events to a file. */
  z.object({ task: z.literal('export'), organization: z.string(), export: z.string() }),
  /** Continues rating events again. */
  z.object({ task: z.literal('rerate'), organization: z.string(), rerate: z.string() }),
  /** Exports the usage of an hour to meters; `hour` is its start in ms since the epoch. */
  z.object({ task: z.literal('meters'), organization: z.string(), hour: z.int() }),
]);
export type BillingTask = z.infer<typeof BillingTask>;

// Messages with the same task within this time are one.
const SLOT_MS = 60_000;

const groupOf = (task: BillingTask): string => `${task.task}-${task.organization}`;

/**
 * The queues of the function `billing`.
 * @param closings the months to close; for functions that close none, or few, the same queue
 */
export const createBillingTasks = (queue: MessageQueue, closings: MessageQueue = queue) => ({
  /**
   * Adds a task; the same task within the same minute is one. Tasks of alerts are kept apart: each is about what was
   * spent until then, and the last one of a minute must not be lost, because no other may follow.
   * @param step distinguishes the messages of a task that continues itself
   */
  send: (task: BillingTask, nowMs: number, step: number | string = 0): Promise<void> => {
    const body = JSON.stringify(task);
    const hash = createHash('sha256').update(body).digest('base64url');
    const slot = task.task === 'alert' ? nowMs : Math.floor(nowMs / SLOT_MS);
    return (task.task === 'close' ? closings : queue).send({ body, group: groupOf(task), deduplicationId: `${hash}.${slot}.${step}` });
  },
});

export type BillingTasks = ReturnType<typeof createBillingTasks>;
