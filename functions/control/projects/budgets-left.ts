import * as z from 'zod';
import { budgetFactsOf } from '../../../shared/admission/item/key-facts.ts';
import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import type { LimiterReader } from '../../../shared/admission/stores/limiter-reader.ts';
import { Project } from './project.ts';
import { hasBudget } from './project-limits.ts';

const left = z.string().nullable();

/** A project with what is left of its budgets. */
export const ProjectState = Project.extend({
  budgets_left: z.object({ day: left, month: left, total: left }).nullable().meta({
    description:
      'Dollars that are neither spent nor reserved for requests in progress; null: no such budget. In a list, null as a whole if it was not read, because the projects before it are very busy: retrieve the project.',
  }),
});
export type ProjectState = z.infer<typeof ProjectState>;

// A limiter of a busy project is spread over many items, and a page has up to 100 projects.
const MAX_ITEMS = 1_000;

const NONE = { day: null, month: null, total: null };

const leftOf = (items: readonly LimiterItem[], nowMs: number): NonNullable<ProjectState['budgets_left']> => {
  const { day, month, total } = budgetFactsOf(items, nowMs);
  return { day: day?.remaining ?? null, month: month?.remaining ?? null, total: total?.remaining ?? null };
};

/**
 * Adds to projects what is left of their budgets. Reads at most 1,000 limiter items besides those of the first project;
 * the rest stays null.
 */
export const withBudgetsLeft = async (
  limiters: Pick<LimiterReader, 'getMany'>,
  projects: readonly Project[],
  nowMs: number,
): Promise<ProjectState[]> => {
  const own = await limiters.getMany(projects.filter(hasBudget).map(({ id }) => id));
  const wanted = new Map<string, readonly string[]>();
  let count = 0;
  for (const item of own) {
    const ids = shardIds(item.id, shardsOf(item));
    if (count > 0 && count + ids.length > MAX_ITEMS) break;
    count += ids.length;
    wanted.set(item.id, ids);
  }
  const others = await limiters.getMany([...wanted.values()].flatMap((ids) => ids.slice(1)));
  const items = new Map([...own, ...others].map((item) => [item.id, item]));
  const known = new Set(own.map(({ id }) => id));
  return projects.map((project) => {
    const ids = wanted.get(project.id);
    if (ids)
      return {
        ...project,
        budgets_left: leftOf(
          ids.flatMap((id) => items.get(id) ?? []),
          nowMs,
        ),
      };
    return { ...project, budgets_left: known.has(project.id) ? null : NONE };
  });
};
