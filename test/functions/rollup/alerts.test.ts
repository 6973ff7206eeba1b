import { describe, expect, test } from '@jest/globals';
import { alertTasks } from '../../../functions/rollup/alerts.ts';
import { BillingTask } from '../../../shared/billing/billing-tasks.ts';

describe('alert tasks', () => {
  test('name each organization with its keys in a fixed order, so that the same keys give the same message', () => {
    const one = new Map([
      ['org_a', new Set(['key_2', 'key_1'])],
      ['org_b', new Set(['key_3'])],
    ]);
    expect(alertTasks(one)).toEqual([
      { task: 'alert', organization: 'org_a', keys: ['key_1', 'key_2'] },
      { task: 'alert', organization: 'org_b', keys: ['key_3'] },
    ]);
  });

  test('have at most 1,000 keys each', () => {
    const keys = Array.from({ length: 2_001 }, (_, i) => `key_${String(i).padStart(4, '0')}`);
    const tasks = alertTasks(new Map([['org_a', new Set(keys)]]));
    expect(tasks.map((task) => BillingTask.parse(task))).toEqual(tasks);
    expect(tasks.flatMap((task) => (task.task === 'alert' ? task.keys : []))).toEqual(keys);
    expect(tasks).toHaveLength(3);
  });
});
