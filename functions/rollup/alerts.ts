import type { BillingTask } from '../../shared/billing/billing-tasks.ts';
import { inBatches } from '../../shared/database/in-batches.ts';

/** Sends tasks to the function `billing`. */
export interface Alerts {
  send(task: BillingTask): Promise<void>;
}

/** Keys and projects with new usage. */
export interface UsedOwners {
  keys: ReadonlySet<string>;
  projects: ReadonlySet<string>;
}

// The most keys, and the most projects, of a task.
const MAX_OWNERS = 1_000;

const partsOf = (ids: ReadonlySet<string>): string[][] => inBatches([...ids].sort(), MAX_OWNERS);

/**
 * Returns the tasks that compare the spending of organizations, their keys and their projects with the thresholds of
 * their alerts. The same keys and projects give the same tasks.
 */
export const alertTasks = (owners: ReadonlyMap<string, UsedOwners>): BillingTask[] =>
  [...owners].flatMap(([organization, used]) => {
    const [keys, projects] = [partsOf(used.keys), partsOf(used.projects)];
    return Array.from({ length: Math.max(keys.length, projects.length) }, (_, i): BillingTask => {
      const ofProjects = projects[i] && { projects: projects[i] };
      return { task: 'alert', organization, keys: keys[i] ?? [], ...ofProjects };
    });
  });
