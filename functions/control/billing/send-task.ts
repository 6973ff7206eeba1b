import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import { ServiceUnavailable } from '../../../shared/http/errors.ts';

/** Queues a task that a request begins. @throws 503 if the queue can't be reached: a repeated request queues it */
export const sendTask = async (
  { billingTasks }: { billingTasks: BillingTasks },
  ...message: Parameters<BillingTasks['send']>
): Promise<void> => {
  try {
    await billingTasks.send(...message);
  } catch (error) {
    throw new ServiceUnavailable(error);
  }
};
