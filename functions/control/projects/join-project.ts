import { ChangedMeanwhile } from '../../../shared/admission/plans/configuration-write.ts';
import type { Write } from '../../../shared/database/transaction.ts';
import { Conflict, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { ProjectStore } from './project-store.ts';

class ProjectArchived extends Conflict {
  constructor() {
    super({
      code: 'project_archived',
      param: 'project_id',
      message: 'This project is archived, so no API key can join it. Choose another project.',
    });
  }
}

/**
 * Checks that an API key can join a project of its organization.
 * @returns the check for the transaction of the key, which fails with ChangedMeanwhile if the project changes meanwhile
 * @throws 404, 409 if it is archived
 */
export const toJoinProject = async ({ projects }: { projects: ProjectStore }, organization: string, id: string): Promise<Write> => {
  const project = await projects.find(organization, id);
  if (!project) throw new ResourceNotFound('project', id, 'project_id');
  if (project.status === 'archived') throw new ProjectArchived();
  return projects.toCheck(project, () => new ChangedMeanwhile());
};
