import type { BillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { logError } from '../../../../shared/logging/log.ts';

/**
 * Has the files of an issued document made. It is issued whether or not the task can be sent, so a failure is only
 * logged: a request for one of the files sends it again.
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
