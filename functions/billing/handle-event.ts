import type { SQSBatchResponse } from 'aws-lambda';
import type { BillingTask } from '../../shared/billing/billing-tasks.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import { type BillingEvent, readEvent } from './events.ts';

export interface Handling {
  run: (task: BillingTask) => Promise<unknown>;
  sendDueTasks: () => Promise<unknown>;
  hasTime: () => boolean;
}

type Messages = Extract<BillingEvent, { kind: 'tasks' }>['messages'];

const runTasks = async ({ run, hasTime }: Handling, messages: Messages): Promise<SQSBatchResponse> => {
  const failed: string[] = [];
  for (const { messageId, task } of messages) {
    try {
      if (!hasTime()) throw new Error('The function ran out of time.');
      await run(task);
      logInfo('billing_task', { ...task });
    } catch (error) {
      logError('billing_task_failed', error, { ...task });
      failed.push(messageId);
    }
  }
  return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
};

/** @returns for messages of the queue: those that must be delivered again */
export const handleEvent = async (deps: Handling, event: unknown): Promise<SQSBatchResponse | undefined> => {
  const read = readEvent(event);
  if (read.kind === 'tasks') return runTasks(deps, read.messages);
  await deps.sendDueTasks();
  return undefined;
};
