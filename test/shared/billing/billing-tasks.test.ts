import { expect, test } from '@jest/globals';
import { createBillingTasks } from '../../../shared/billing/billing-tasks.ts';

test('groups tasks of one kind by organization, so that one is done at a time', async () => {
  const groups: string[] = [];
  const tasks = createBillingTasks({ send: async ({ group }) => void groups.push(group) });
  for (const [organization, id] of [
    ['org_1', 'exp_1'],
    ['org_1', 'exp_2'],
    ['org_2', 'exp_3'],
  ] as const)
    await tasks.send({ task: 'export', organization, export: id }, 0);
  await tasks.send({ task: 'close', organization: 'org_1', month: '2026-10' }, 0);
  const [first, second, ofAnother, ofAnotherKind] = groups;
  expect(first).toBe(second);
  expect(new Set([first, ofAnother, ofAnotherKind]).size).toBe(3);
});
