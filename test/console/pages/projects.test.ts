import { describe, expect, test } from '@jest/globals';
import {
  changesOfProject,
  draftOfProject,
  EMPTY_PROJECT,
  faultsOfProject,
  isProjectComplete,
  newProjectOf,
  type Project,
} from '../../../console/pages/projects/project-draft.ts';

const project: Project = {
  id: 'prj_1',
  object: 'project',
  organization: 'org_1',
  name: 'Search',
  status: 'active',
  budgets: { day: null, month: '100', total: null },
  created_at: 1,
  created_by: 'user_1',
  updated_at: 1,
  archived_at: null,
  version: 1,
  budgets_left: { day: null, month: '40', total: null },
};

describe('the form of a project', () => {
  test('sends nothing for a project that was only opened', () => {
    expect(changesOfProject(draftOfProject(project), project)).toEqual({});
  });

  test('sends only what differs, and null for a budget that was emptied', () => {
    const draft = { ...draftOfProject(project), name: ' Ranking ', day: '1.5', month: '' };
    expect(changesOfProject(draft, project)).toEqual({ name: 'Ranking', budgets: { day: '1.5', month: null } });
  });

  test('creates a project without budgets unless one was entered', () => {
    expect(newProjectOf({ ...EMPTY_PROJECT, name: ' Search ' }, undefined)).toEqual({ name: 'Search' });
    expect(newProjectOf({ ...EMPTY_PROJECT, name: 'Search', month: '5' }, 'org_1')).toEqual({
      name: 'Search',
      organization: 'org_1',
      budgets: { month: '5' },
    });
  });

  test('asks for a name and for dollars', () => {
    expect(isProjectComplete(EMPTY_PROJECT)).toBe(false);
    expect(isProjectComplete({ ...EMPTY_PROJECT, name: 'Search' })).toBe(true);
    expect(faultsOfProject({ ...EMPTY_PROJECT, day: '1,5' })).toEqual({ day: 'Enter an amount, such as 12.50.' });
  });
});
