import { toBudgets } from '../limits/limits.ts';
import type { Project } from './project.ts';

const UNLIMITED = {
  requestsPerMinute: Number.POSITIVE_INFINITY,
  tokensPerMinute: Number.POSITIVE_INFINITY,
  concurrency: Number.POSITIVE_INFINITY,
  isPrepaid: false,
};

/** True if a project has a budget. From its first one on, it has a limiter. */
export const hasBudget = ({ budgets }: Project): boolean => Object.values(budgets).some((budget) => budget !== null);

/** The settings of a project's limiter, which every request of its keys must meet. */
export const projectLimits = ({ organization, budgets }: Project) =>
  ({ status: 'active', limits: { ...UNLIMITED, budgets: toBudgets(budgets) }, organization }) as const;
