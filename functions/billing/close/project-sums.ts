import * as z from 'zod';
import type { ProjectCharge } from '../../../shared/billing/invoice.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { ChargeGroup } from './charge-group.ts';

/** The events of API keys that were in a project, as stored in the file of a day. Differences can be negative. */
export const ProjectSum = z.object({
  /** Null: they were in none. */
  project: z.string().nullable(),
  /** Without events that rate a request again. */
  requests: z.int(),
  cost_nanos: ChargeGroup.shape.cost_nanos,
});
export type ProjectSum = z.output<typeof ProjectSum>;

/** Sums by project. */
export type ProjectSums = Map<string | null, ProjectSum>;

/** The sum of one event. */
export const projectOfUsage = ({ project_id, rerate, cost_nanos }: UsageEvent): ProjectSum => ({
  project: project_id ?? null,
  requests: rerate ? 0 : 1,
  cost_nanos,
});

/**
 * Adds a project's sum, or subtracts it if `sign` is -1. Changes `sums` in place: a month can have millions of events.
 */
export const addProject = (sums: ProjectSums, { project, requests, cost_nanos }: ProjectSum, sign: 1 | -1 = 1): void => {
  const sum = sums.get(project) ?? { project, requests: 0, cost_nanos: 0n };
  sums.set(project, sum);
  sum.requests += sign * requests;
  sum.cost_nanos += BigInt(sign) * cost_nanos;
};

const hasProject = (sums: readonly ProjectSum[]): boolean => sums.some(({ project }) => project !== null);

/**
 * The sums that are not 0, in the order of the projects' ids, and then those of no project. None if none is of a
 * project.
 */
export const listProjects = (sums: ProjectSums): ProjectSum[] => {
  const listed = [...sums.values()].filter(({ requests, cost_nanos }) => requests !== 0 || cost_nanos !== 0n);
  if (!hasProject(listed)) return [];
  return listed.sort((a, b) => Number(a.project === null) - Number(b.project === null) || ((a.project ?? '') < (b.project ?? '') ? -1 : 1));
};

interface Read {
  groups: readonly ChargeGroup[];
  projects?: readonly ProjectSum[] | undefined;
}

/** The sums of a day's file. One without projects has none, and release 0.1.0 had no projects. */
export const projectsOf = ({ groups, projects }: Read): readonly ProjectSum[] => {
  if (projects) return projects;
  const sum: ProjectSum = { project: null, requests: 0, cost_nanos: 0n };
  for (const { deployment, rerate_from, events, cost_nanos } of groups) {
    if (deployment !== null) continue;
    sum.requests += rerate_from === null ? events : 0;
    sum.cost_nanos += cost_nanos;
  }
  return [sum];
};

/** The charge of a project on an invoice. */
export const toProjectCharge = ({ project, requests, cost_nanos }: ProjectSum): ProjectCharge => ({
  project_id: project,
  requests,
  amount_nanos: cost_nanos,
});
