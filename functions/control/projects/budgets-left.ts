import * as z from 'zod';
import { budgetFactsOf } from '../../../shared/admission/item/key-facts.ts';
import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { ownerIdOf, shardIds } from '../../../shared/admission/item/shards.ts';
import type { LimiterReader } from '../../../shared/admission/stores/limiter-reader.ts';
import { Project } from './project.ts';
import { hasBudget } from './project-limits.ts';

const left = z.string().nullable();

/** A project with what is left of its budgets. */
export const ProjectState = Project.extend({
  budgets_left: z.object({ day: left, month: left, total: left }).nullable().meta({
    description:
      'Dollars that are neither spent nor reserved for requests in progress; null: no such budget. Null as a whole if it was not read, because other projects of the list are very busy: retrieve the project.',
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
 * Adds to projects what is left of their budgets. Reads at most 1,000 more limiter items than projects; what is not
 * read stays null.
 */
export const withBudgetsLeft = async (
  limiters: Pick<LimiterReader, 'getMany'>,
  projects: readonly Project[],
  nowMs: number,
): Promise<ProjectState[]> => {
  const own = await limiters.getMany(projects.filter(hasBudget).map(({ id }) => id));
  const others: string[] = [];
  const isRead = own.filter((item) => {
    const ids = shardIds(item.id, shardsOf(item)).slice(1);
    if (others.length + ids.length > MAX_ITEMS) return false;
    others.push(...ids);
    return true;
  });
  const items = Map.groupBy([...isRead, ...(await limiters.getMany(others))], ({ id }) => ownerIdOf(id));
  return projects.map((project) => {
    const of = items.get(project.id);
    if (of) return { ...project, budgets_left: leftOf(of, nowMs) };
    return { ...project, budgets_left: hasBudget(project) ? null : NONE };
  });
};
