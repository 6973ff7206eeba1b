import * as z from 'zod';
import { type AuditDependencies, commit } from '../../../shared/audit/commit.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { type Page, type PageRequest, pageQuery } from '../../../shared/http/page.ts';
import { checkVersion } from '../../../shared/http/precondition.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, type ActorChecks, organizationFor } from '../access/actor.ts';
import { filteredPage } from '../lists/filtered-page.ts';
import { OrganizationId } from '../organizations/organization.ts';
import type { OrganizationStore } from '../organizations/organization-store.ts';
import { type NewProject, Project, type ProjectUpdate } from './project.ts';
import type { ProjectStore } from './project-store.ts';

export interface ProjectDependencies extends AuditDependencies {
  projects: ProjectStore;
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
  ...pageQuery,
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

const secondsOf = ({ origin }: Actor): number => Math.floor(origin.nowMs / SECOND_MS);

/** Creates a project. @throws 400, 403 and 404 for its organization, 409 if there are too many */
export const createProject = async (
  deps: ProjectDependencies,
  actor: Actor,
  { name, organization: named }: NewProject,
): Promise<Project> => {
  const owner = organizationFor(actor, named);
  const seconds = secondsOf(actor);
  const project: Project = {
    id: newTimedId('project', actor.origin.nowMs),
    object: 'project',
    organization: owner,
    name,
    status: 'active',
    created_at: seconds,
    created_by: actor.userId,
    updated_at: seconds,
    archived_at: null,
    version: 1,
  };
  await save(deps, actor, project, { action: 'project.created', after: project }, [
    deps.organizations.toCheckActive(owner),
    ...deps.projects.toCreate(project),
  ]);
  return project;
};

const replace = async (
  deps: ProjectDependencies,
  actor: Actor,
  before: Project,
  { action, fields }: { action: string; fields: Partial<Project> },
): Promise<Project> => {
  const after: Project = { ...before, ...fields, updated_at: secondsOf(actor) };
  await save(deps, actor, before, { action, before, after }, [deps.projects.toReplace(after)]);
  return { ...after, version: after.version + 1 };
};

/** Changes a project; absent fields keep their values. @throws 400, 404, 412 */
export const updateProject = async (
  deps: ProjectDependencies,
  actor: Actor,
  place: ProjectPlace,
  { name }: ProjectUpdate,
  expected?: Expected,
): Promise<Project> => {
  const before = checkVersion(await visibleProject(deps, actor, place), expected);
  return replace(deps, actor, before, { action: 'project.updated', fields: { ...(name !== undefined && { name }) } });
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
 * Lists the projects of an organization, newest first. A page can be short although there are more.
 * @throws 400, 404
 */
export const listProjects = async (
  { projects }: Pick<ProjectDependencies, 'projects'>,
  actor: Actor,
  { organization: named, status, ...page }: z.output<typeof ProjectsQuery>,
): Promise<Page<Project>> => {
  const owner = organizationFor(actor, named);
  const read = async (request: PageRequest) => {
    const { projects: listed, hasMore } = await projects.list(owner, request);
    return {
      wanted: listed.filter((project) => project.status === (status ?? project.status)),
      next: hasMore ? (listed.at(-1)?.id ?? null) : null,
    };
  };
  const { entries, next } = await filteredPage(page, { read, cursorOf: ({ id }) => id, isFiltered: status !== undefined });
  return { object: 'list', data: entries, has_more: next !== null, next };
};
