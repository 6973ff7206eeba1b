import * as z from 'zod';
import { changeBody } from '../access/change-body.ts';
import { KeyBudgets, KeyBudgetsUpdate } from '../limits/limits.ts';
import { OrganizationId } from '../organizations/organization.ts';

const ProjectName = z.string().trim().min(1).max(100);

/** The id of a project in a request. One that doesn't exist is a 404. */
export const ProjectId = z.string().min(1).max(64);

/** A project on the wire: a name under which the usage of some API keys of an organization is shown. */
export const Project = z.object({
  id: z.string(),
  object: z.literal('project'),
  organization: z.string(),
  name: z.string(),
  status: z.enum(['active', 'archived']).meta({
    description: '`archived`: no other API key can join it. Keys that are in it keep working.',
  }),
  budgets: KeyBudgets.meta({
    description:
      'The most that the API keys of the project can spend together per day, per month (UTC) and in total, in dollars; null: no limit.',
  }),
  created_at: z.int().meta({ description: 'Unix time in seconds.' }),
  created_by: z.string().meta({ description: 'The id of the user or the name of the operator who created the project.' }),
  updated_at: z.int(),
  archived_at: z.int().nullable().meta({ description: 'Unix time in seconds; null: it is active.' }),
  version: z.int().meta({ description: 'Incremented by every change. The ETag is derived from it.' }),
});
export type Project = z.infer<typeof Project>;

export const NewProject = z.strictObject({
  name: ProjectName,
  budgets: KeyBudgets.optional(),
  organization: OrganizationId.optional().meta({
    description: 'The organization of the project. Required for admins; otherwise your own organization.',
  }),
});
export type NewProject = z.output<typeof NewProject>;

/** Absent fields keep their values. */
export const ProjectUpdate = changeBody({
  name: ProjectName.optional(),
  budgets: KeyBudgetsUpdate.optional().meta({
    description: 'A budget counts what is spent from when the project first has one. Null removes a budget.',
  }),
});
export type ProjectUpdate = z.output<typeof ProjectUpdate>;
