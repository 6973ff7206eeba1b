import { expect, test } from '@jest/globals';
import { type BillingTask, createBillingTasks } from '../../../shared/billing/billing-tasks.ts';

const idsOf = async (task: BillingTask): Promise<(string | undefined)[]> => {
  const ids: (string | undefined)[] = [];
  const tasks = createBillingTasks({ send: async ({ deduplicationId }) => void ids.push(deduplicationId) });
  for (const nowMs of [60_000, 61_000]) await tasks.send(task, nowMs);
  return ids;
};

test('compares spending with the thresholds again, even within the same minute', async () => {
  const [first, second] = await idsOf({ task: 'alert', organization: 'org_a', keys: ['key_a'] });
  expect(second).not.toBe(first);
});

test('closes a month once if two schedules ask within the same minute', async () => {
  const [first, second] = await idsOf({ task: 'close', organization: 'org_a', month: '2026-10' });
  expect(second).toBe(first);
});

test('sends months to close to a queue of their own, so that other tasks don’t wait for them', async () => {
  const sent: string[] = [];
  const to = (queue: string) => ({ send: async ({ body }: { body: string }) => void sent.push(`${queue}: ${JSON.parse(body).task}`) });
  const tasks = createBillingTasks(to('tasks'), to('closings'));
  await tasks.send({ task: 'close', organization: 'org_a', month: '2026-10' }, 0);
  await tasks.send({ task: 'expire', organization: 'org_a' }, 0);
  expect(sent).toEqual(['closings: close', 'tasks: expire']);
});
