import type { BillingTask } from '../../shared/billing/billing-tasks.ts';
import type { BillingTaskDependencies } from './dependencies.ts';

type Rule<Task> = (deps: BillingTaskDependencies, task: Task) => Promise<unknown>;

export type Rules = { [Kind in BillingTask['task']]: Rule<Extract<BillingTask, { task: Kind }>> };

/**
 * The rule of each kind of task. Rules can be repeated. Each is loaded with its first task, because some need large
 * packages.
 */
export const rules: Rules = {
  close: async (deps, task) => (await import('./close/close-month.ts')).closeMonth(deps, task),
  render: async (deps, task) => (await import('./render/render-document.ts')).renderDocument(deps, task),
  alert: async (deps, task) =>
    (await import('./alerts/evaluate-alerts.ts')).evaluateAlerts({ ...deps, profileOf: deps.settings.getProfile }, task),
  expire: async (deps, task) => (await import('./credit-expiry/expire-credit.ts')).expireCredit(deps, task),
  rerate: async (deps, task) =>
    (await import('./rerate/rerate-events.ts')).rerateEvents({ ...deps, organizations: deps.organizations.ids }, task),
  export: async (deps, task) => {
    const [{ exportEvents }, { createUploads }] = await Promise.all([import('./exports/export-events.ts'), import('./exports/upload.ts')]);
    return exportEvents({ ...deps, uploads: createUploads(deps.s3, deps.bucket) }, task);
  },
  meters: async ({ stripeSecret, ...deps }, task) => {
    // The export was switched off after the task was sent.
    if (stripeSecret === undefined) return;
    const [{ exportMeters }, { createStripeExport }] = await Promise.all([
      import('./meters/export-meters.ts'),
      import('./meters/stripe-export.ts'),
    ]);
    await exportMeters({ ...deps, meterExport: createStripeExport(stripeSecret, deps.wait) }, task);
  },
};

export const runTask = (of: Rules, deps: BillingTaskDependencies, task: BillingTask): Promise<unknown> =>
  (of[task.task] as Rule<BillingTask>)(deps, task);
