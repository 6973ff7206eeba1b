import * as z from 'zod';
import type { LimiterConfigurationStore } from '../../../shared/admission/stores/limiter-configuration-store.ts';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { type Page, type PageRequest, pageQueryOf } from '../../../shared/http/page.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import { type Actor, type ActorChecks, organizationFor } from '../access/actor.ts';
import { KeyBudgets } from '../limits/limits.ts';
import { filteredPage } from '../lists/filtered-page.ts';
import { OrganizationId } from '../organizations/organization.ts';
import { saveWithLimiter } from '../organizations/organization-limiter.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { type ProjectState, withBudgetsLeft } from './budgets-left.ts';
import { type NewProject, Project, type ProjectUpdate } from './project.ts';
import { hasBudget, projectLimits } from './project-limits.ts';
import type { ProjectStore } from './project-store.ts';

export interface ProjectDependencies extends AuditDependencies {
  projects: ProjectStore;
  limiters: LimiterConfigurationStore;
  organizations: Pick<OrganizationStore, 'toCheckActive'>;
  users: ActorChecks;
}

/** The project of a request. `organization` is undefined unless an admin names it. */
export interface ProjectPlace {
  id: string;
  organization: string | undefined;
}

type Expected = readonly number[] | undefined;

const organization = OrganizationId.optional().meta({
  description: 'The organization of the project. Required for admins; otherwise your own organization.',
});
export const ProjectQuery = z.strictObject({ organization });
export const ProjectsQuery = z.strictObject({
  ...pageQueryOf('project'),
  organization,
  status: Project.shape.status.optional().meta({ description: 'Only projects with this status.' }),
});

/** Returns a project of the actor's organization, or of the one that an admin names. @throws 400, 404 */
export const visibleProject = async (
  { projects }: Pick<ProjectDependencies, 'projects'>,
  actor: Actor,
  { id, organization: named }: ProjectPlace,
): Promise<Project> => {
  const project = await projects.find(organizationFor(actor, named), id);
  if (!project) throw new ResourceNotFound('project', id);
  return project;
};

/** Returns a project with what is left of its budgets. @throws 400, 404 */
export const retrieveProject = async (
  deps: Pick<ProjectDependencies, 'projects' | 'limiters'>,
  actor: Actor,
  place: ProjectPlace,
): Promise<ProjectState> => {
  const project = await visibleProject(deps, actor, place);
  const [state] = await withBudgetsLeft(deps.limiters, [project], actor.origin.nowMs);
  return state as ProjectState;
};

const save = (
  deps: ProjectDependencies,
  actor: Actor,
  { id, organization: owner }: Project,
  change: { action: string; before?: Project; after: Project },
  writes: readonly Write[],
): Promise<void> =>
  commit(deps, actor.origin, { ...change, organization: owner, target: { type: 'project', id } }, [
    ...deps.users.toCheckActor(actor),
    ...writes,
  ]);

// With a limiter of the new budgets, which the requests of all its keys must meet.
const saveWithBudgets = (
  deps: ProjectDependencies,
  actor: Actor,
  change: { action: string; before?: Project; after: Project },
  writes: readonly Write[],
): Promise<void> => {
  const settings = projectLimits(change.after);
  return saveWithLimiter(deps.limiters, change.after.id, settings, 'limits', actor.origin.nowMs, (ofLimiter) =>
    save(deps, actor, change.after, change, [...writes, ...ofLimiter]),
  );
};

const secondsOf = ({ origin }: Actor): number => unixSeconds(origin.nowMs);

/** Creates a project. @throws 400, 403 and 404 for its organization, 409 if there are too many */
export const createProject = async (
  deps: ProjectDependencies,
  actor: Actor,
  { name, budgets, organization: named }: NewProject,
): Promise<Project> => {
  const owner = organizationFor(actor, named);
  const seconds = secondsOf(actor);
  const project: Project = {
    id: newTimedId('project', actor.origin.nowMs),
    object: 'project',
    organization: owner,
    name,
    status: 'active',
    budgets: budgets ?? KeyBudgets.parse({}),
    created_at: seconds,
    created_by: actor.userId,
    updated_at: seconds,
    archived_at: null,
    version: 1,
  };
  const writes = [deps.organizations.toCheckActive(owner), ...deps.projects.toCreate(project)];
  const change = { action: 'project.created', after: project };
  if (hasBudget(project)) await saveWithBudgets(deps, actor, change, writes);
  else await save(deps, actor, project, change, writes);
  return project;
};

const replace = async (
  deps: ProjectDependencies,
  actor: Actor,
  before: Project,
  { action, fields }: { action: string; fields: Partial<Project> },
): Promise<Project> => {
  const after: Project = { ...before, ...fields, updated_at: secondsOf(actor) };
  const writes = [deps.projects.toReplace(after)];
  if (fields.budgets && (hasBudget(before) || hasBudget(after))) await saveWithBudgets(deps, actor, { action, before, after }, writes);
  else await save(deps, actor, before, { action, before, after }, writes);
  return { ...after, version: after.version + 1 };
};

/**
 * Changes a project; absent fields keep their values. Budgets apply from the next request of each key on; the first one
 * of a project within 30 s.
 * @throws 400, 404, 412
 */
export const updateProject = async (
  deps: ProjectDependencies,
  actor: Actor,
  place: ProjectPlace,
  { name, budgets }: ProjectUpdate,
  expected?: Expected,
): Promise<Project> => {
  const before = checkVersion(await visibleProject(deps, actor, place), expected);
  const fields: Partial<Project> = {
    ...(name !== undefined && { name }),
    ...(budgets && { budgets: KeyBudgets.parse({ ...before.budgets, ...budgets }) }),
  };
  return replace(deps, actor, before, { action: 'project.updated', fields });
};

/** Archives a project for good. Does nothing if it is archived. @throws 400, 404, 412 */
export const archiveProject = async (
  deps: ProjectDependencies,
  actor: Actor,
  place: ProjectPlace,
  expected?: Expected,
): Promise<Project> => {
  const before = checkVersion(await visibleProject(deps, actor, place), expected);
  if (before.status === 'archived') return before;
  return replace(deps, actor, before, { action: 'project.archived', fields: { status: 'archived', archived_at: secondsOf(actor) } });
};

/**
 * Lists the projects of an organization with what is left of their budgets, newest first. A page can be short although
 * there are more.
 * @throws 400, 404
 */
export const listProjects = async (
  { projects, limiters }: Pick<ProjectDependencies, 'projects' | 'limiters'>,
  actor: Actor,
  { organization: named, status, ...page }: z.output<typeof ProjectsQuery>,
): Promise<Page<ProjectState>> => {
  const owner = organizationFor(actor, named);
  const read = async (request: PageRequest) => {
    const { projects: listed, hasMore } = await projects.list(owner, request);
    return {
      wanted: listed.filter((project) => project.status === (status ?? project.status)),
      next: hasMore ? (listed.at(-1)?.id ?? null) : null,
    };
  };
  const { entries, next } = await filteredPage(page, { read, cursorOf: ({ id }) => id, isFiltered: status !== undefined });
  const data = await withBudgetsLeft(limiters, entries, actor.origin.nowMs);
  return { object: 'list', data, has_more: next !== null, next };
};
