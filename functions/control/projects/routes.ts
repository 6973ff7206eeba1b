import { pageOf } from '../../../shared/http/page.ts';
import { createRoute } from '../access/route.ts';
import { SHORT_PAGES } from '../lists/filtered-page.ts';
import { ProjectState } from './budgets-left.ts';
import {
  archiveProject,
  createProject,
  listProjects,
  type ProjectDependencies,
  ProjectQuery,
  ProjectsQuery,
  retrieveProject,
  updateProject,
} from './manage-projects.ts';
import { NewProject, Project, ProjectUpdate } from './project.ts';

const route = createRoute<ProjectDependencies>('Projects');
const projects = '/v1/projects';
const oneProject = `${projects}/{id}`;
const parameters = { id: { description: 'The id of a project.', example: 'prj_VbdBUPc4RtYvB8fK2m' } } as const;
const project = { name: 'Project', schema: Project };

const placeOf = ({ id = '' }: Record<string, string>, query: { organization?: string | undefined }) => ({
  id,
  organization: query.organization,
});

export const projectRoutes = [
  route(
    {
      method: 'POST',
      path: projects,
      operationId: 'createProject',
      summary: 'Create a project',
      description:
        'A project is a part of an organization whose usage and costs are shown on their own, and which can have a budget: set the `project_id` of API keys. An organization can have 1,000 projects.',
      access: 'projects:write',
      body: { name: 'NewProject', schema: NewProject, example: { name: 'Search', budgets: { month: '500' } } },
      reply: { status: 201, description: 'The project.', json: project },
      errors: [400, 404, 409, 503],
    },
    ({ deps, actor, body }) => createProject(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: projects,
      operationId: 'listProjects',
      summary: 'List projects',
      description: SHORT_PAGES,
      access: 'projects:read',
      query: ProjectsQuery,
      reply: { status: 200, description: 'A page of projects, newest first.', json: { name: 'ProjectList', schema: pageOf(ProjectState) } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listProjects(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneProject,
      operationId: 'retrieveProject',
      summary: 'Retrieve a project',
      access: 'projects:read',
      parameters,
      query: ProjectQuery,
      reply: {
        status: 200,
        description: 'The project, with what is left of its budgets.',
        json: { name: 'ProjectState', schema: ProjectState },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, parameters: path, query }) => retrieveProject(deps, actor, placeOf(path, query)),
  ),
  route(
    {
      method: 'PATCH',
      path: oneProject,
      operationId: 'updateProject',
      summary: 'Update a project',
      description:
        'Fields that you omit keep their values. Budgets apply from the next request on; the first budget of a project within 30 seconds.',
      access: 'projects:write',
      parameters,
      query: ProjectQuery,
      isVersioned: true,
      body: { name: 'ProjectUpdate', schema: ProjectUpdate, example: { name: 'Search and ranking' } },
      reply: { status: 200, description: 'The project.', json: project },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: path, query, body, expected }) => updateProject(deps, actor, placeOf(path, query), body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneProject}/archive`,
      operationId: 'archiveProject',
      summary: 'Archive a project',
      description:
        'No other API key can join the project from then on. Keys that are in it keep working. It stays in the list because usage refers to it.',
      access: 'projects:write',
      parameters,
      query: ProjectQuery,
      isVersioned: true,
      reply: { status: 200, description: 'The archived project.', json: project },
      errors: [400, 404, 412, 503],
    },
    ({ deps, actor, parameters: path, query, expected }) => archiveProject(deps, actor, placeOf(path, query), expected),
  ),
];
