import type { BillingTask } from '../../shared/billing/billing-tasks.ts';

/** Sends tasks to the function `billing`. */
export interface Alerts {
  send(task: BillingTask): Promise<void>;
}

// The most keys of a task.
const MAX_KEYS = 1_000;

/**
 * Returns the tasks that compare the spending of organizations and their keys with the thresholds of their alerts. The
 * same keys give the same tasks.
 */
export const alertTasks = (keys: ReadonlyMap<string, ReadonlySet<string>>): BillingTask[] =>
  [...keys].flatMap(([organization, ofOrganization]) => {
    const sorted = [...ofOrganization].sort();
    const parts = Array.from({ length: Math.ceil(sorted.length / MAX_KEYS) }, (_, i) => sorted.slice(i * MAX_KEYS, (i + 1) * MAX_KEYS));
    return parts.map((part): BillingTask => ({ task: 'alert', organization, keys: part }));
  });
