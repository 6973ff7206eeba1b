import type { BillingTask } from '../../shared/billing/billing-tasks.ts';
import type { BillingDependencies } from './dependencies.ts';

/** What a task does. It can be repeated. */
type Rule<Task> = (deps: BillingDependencies, task: Task) => Promise<unknown>;

export type Rules = { [Kind in BillingTask['task']]?: Rule<Extract<BillingTask, { task: Kind }>> };

/** The rule of each kind of task. Each is loaded with its first task, because some need large packages. */
export const rules: Rules = {};

/** Runs a task by its rule. @throws what the rule throws; Error if the task has no rule */
export const runTask = (of: Rules, deps: BillingDependencies, task: BillingTask): Promise<unknown> => {
  const rule = of[task.task] as Rule<BillingTask> | undefined;
  if (!rule) return Promise.reject(new Error(`There is no rule for tasks of the kind '${task.task}'.`));
  return rule(deps, task);
};
