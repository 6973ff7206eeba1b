import { describe, expect, test } from '@jest/globals';
import { alertTasks, type UsedOwners } from '../../../functions/rollup/alerts.ts';
import { BillingTask } from '../../../shared/billing/billing-tasks.ts';

const used = (keys: readonly string[], projects: readonly string[] = []): UsedOwners => ({
  keys: new Set(keys),
  projects: new Set(projects),
});

describe('alert tasks', () => {
  test('name each organization with its keys and projects in a fixed order: the same give the same message', () => {
    const one = new Map([
      ['org_a', used(['key_2', 'key_1'], ['prj_2', 'prj_1'])],
      ['org_b', used(['key_3'])],
    ]);
    expect(alertTasks(one)).toEqual([
      { task: 'alert', organization: 'org_a', keys: ['key_1', 'key_2'], projects: ['prj_1', 'prj_2'] },
      { task: 'alert', organization: 'org_b', keys: ['key_3'] },
    ]);
  });

  test('have at most 1,000 keys and 1,000 projects each', () => {
    const keys = Array.from({ length: 2_001 }, (_, i) => `key_${String(i).padStart(4, '0')}`);
    const projects = Array.from({ length: 1_001 }, (_, i) => `prj_${String(i).padStart(4, '0')}`);
    const tasks = alertTasks(new Map([['org_a', used(keys, projects)]]));
    expect(tasks.map((task) => BillingTask.parse(task))).toEqual(tasks);
    expect(tasks.flatMap((task) => (task.task === 'alert' ? task.keys : []))).toEqual(keys);
    expect(tasks.flatMap((task) => (task.task === 'alert' ? (task.projects ?? []) : []))).toEqual(projects);
    expect(tasks).toHaveLength(3);
  });
});
