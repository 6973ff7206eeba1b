import { ignoringUnknown } from '../../../shared/database/ignoring-unknown.ts';
import type { RecordKey, RecordTable } from '../../../shared/database/record-table.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict } from '../../../shared/http/errors.ts';
import type { PageRequest } from '../../../shared/http/page.ts';
import { Project } from './project.ts';

const PROJECT = 'project#';
// Archived ones stay, because usage refers to them.
const MAX_PROJECTS = 1_000;
// Ids come from request paths and bodies; malformed ones are not looked up.
const ID = /^prj_[0-9A-Za-z]{18}$/;

const recordKeyOf = (organization: string, id: string): RecordKey => ({ account: organization, record: PROJECT + id });
const countRecordKey = (organization: string): RecordKey => ({ account: organization, record: 'projects' });

const tooMany = (): Conflict =>
  new Conflict({
    code: 'too_many_projects',
    message: `An organization can have at most ${MAX_PROJECTS} projects, including archived ones. Use an existing project instead.`,
  });

const Stored = ignoringUnknown(Project);
const toProject = (row: Record<string, unknown>): Project => Stored.parse({ budgets: {}, ...row });

/** Projects in the `accounts` table: one row each, in the partition of their organization. */
export const createProjectStore = (table: RecordTable) => ({
  find: async (organization: string, id: string): Promise<Project | undefined> => {
    if (!ID.test(id)) return undefined;
    const row = await table.get(recordKeyOf(organization, id));
    return row && toProject(row);
  },

  /** Lists projects, newest first. */
  list: async (organization: string, request: PageRequest): Promise<{ projects: Project[]; hasMore: boolean }> => {
    const { rows, hasMore } = await table.page({ account: organization, prefix: PROJECT, newestFirst: true }, request);
    return { projects: rows.map(toProject), hasMore };
  },

  /** Lists every project of an organization, including archived ones. */
  listAll: async function* (organization: string): AsyncGenerator<Project> {
    for await (const row of table.all({ account: organization, prefix: PROJECT })) yield toProject(row);
  },

  /** Creates a project. Fails with a 409 if the organization has too many. */
  toCreate: (project: Project): Write[] => [
    table.toCreate(recordKeyOf(project.organization, project.id), project, () => new Error(`${project.id} already exists.`)),
    table.toCount(countRecordKey(project.organization), 1, MAX_PROJECTS, tooMany),
  ],

  /** Replaces the version that was read; 412 if it has changed since. */
  toReplace: (project: Project): Write => table.toReplace(recordKeyOf(project.organization, project.id), project),

  /** Checks that a project has not changed since it was read. @param refused the error otherwise */
  toCheck: ({ organization, id, version }: Project, refused: () => Error): Write =>
    table.toCheck(recordKeyOf(organization, id), { version }, refused),
});

export type ProjectStore = ReturnType<typeof createProjectStore>;
