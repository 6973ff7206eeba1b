import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { logError } from '../../../../shared/logging/log.ts';

/**
 * Queues the rendering of an issued document's files. A failure is only logged, because the document is issued anyway:
 * a request for one of its files sends the task again.
 */
export const sendRender = async (
  { billingTasks }: { billingTasks: BillingTasks },
  { organization, id }: { organization: string; id: string },
  nowMs: number,
): Promise<void> => {
  try {
    await billingTasks.send({ task: 'render', organization, document: id }, nowMs);
  } catch (error) {
    logError('render_not_sent', error, { document: id });
  }
};
