import { isDeepStrictEqual } from 'node:util';
import type { StoredApiKey } from '../../../../functions/control/api-keys/api-key.ts';
import { toSetLimiter } from '../../../../functions/control/organizations/organization-limiter.ts';
import type { Project } from '../../../../functions/control/projects/project.ts';
import { hasBudget, projectLimits } from '../../../../functions/control/projects/project-limits.ts';
import type { ProjectStore } from '../../../../functions/control/projects/project-store.ts';
import { limitsOf, shardsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../../shared/admission/item/shards.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import { type ChangeDependencies, changeLimiter, missingIds, newOwnerItem, wholeOf } from './existing-items.ts';
import type { LimitingChanges } from './limiting-changes.ts';
import type { LimiterReport } from './rebuild-limiters.ts';
import { type MoneyDependencies, type MoneyReport, rebuildMoney } from './rebuild-money.ts';

export interface ProjectDependencies extends MoneyDependencies, ChangeDependencies {
  limiters: MoneyDependencies['limiters'];
  projects: ProjectStore;
}

const shardNumberOf = ({ id }: Project, limiterId: string): number => Number(limiterId.slice(id.length + 1));

/**
 * Creates the limiter items of a project that are missing, gives all of them the project's budgets, and corrects what
 * they have counted by the events of the keys that have been in the project.
 * @param keys all keys that its organization ever had
 * @param known the ids of its items
 */
export const rebuildProject = async (
  deps: ProjectDependencies,
  project: Project,
  { keys, known, changes }: { keys: readonly StoredApiKey[]; known: readonly string[]; changes: LimitingChanges },
  report: { limiters: LimiterReport; money: MoneyReport },
): Promise<void> => {
  if (known.length === 0 && !hasBudget(project)) return;
  const { database, limiters } = deps;
  const { id } = project;
  const settings = projectLimits(project);
  const highest = Math.max(0, ...known.map((limiterId) => shardNumberOf(project, limiterId)));
  const found = await limiters.getMany(shardIds(id, highest + 1));
  const count = Math.max(highest + 1, ...found.map(shardsOf));
  const items = count > highest + 1 ? await limiters.getMany(shardIds(id, count)) : found;
  const missing = missingIds(id, { items, count });
  for (const { shard } of missing) await transact(database, [limiters.toCreate(newOwnerItem(id, settings, count, shard))]);
  report.limiters.created += missing.length;

  const keysOfProject = changes.keysOfProjects.get(id);
  const counted = keys.filter((key) => key.project_id === id || keysOfProject?.has(key.id));
  const sinceMs = changes.projectsSinceMs.get(id) ?? project.created_at * SECOND_MS;
  await rebuildMoney(deps, { id, items: count, keys: counted, sinceMs, project: id }, report.money);

  const hasSettings = (): boolean =>
    items.every(({ status }) => status === settings.status) && isDeepStrictEqual(limitsOf(wholeOf(items)), settings.limits);
  if (missing.length === 0 && hasSettings()) return;
  report.limiters.configured++;
  // Parts of a budget follow what the items have counted.
  await changeLimiter(deps, id, async (nowMs) => (await toSetLimiter(limiters, id, settings, 'limits', nowMs)).writes);
};
