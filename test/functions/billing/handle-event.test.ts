import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { handleSchedule, queuedTasks } from '../../../functions/billing/handle-event.ts';
import { rules, runTask } from '../../../functions/billing/rules.ts';
import type { BillingTask } from '../../../shared/billing/billing-tasks.ts';
import type { TimedContext } from '../../../shared/middleware/deadline.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';

const TASK: BillingTask = { task: 'close', organization: 'org_1', month: '2026-10' };
const messages = (...bodies: string[]) => ({ Records: bodies.map((body, i) => ({ messageId: `m${i}`, body })) });

interface Handling {
  run: (task: BillingTask) => Promise<unknown>;
  sendDueTasks: () => Promise<unknown>;
  hasTime: () => boolean;
}

// As the function’s middleware does.
const handleEvent = ({ run, sendDueTasks, hasTime }: Handling, event: unknown) =>
  middy<unknown, unknown>()
    .use(queueMessages(queuedTasks(run)))
    .handler((other) => handleSchedule(sendDueTasks, other))(event, { hasTime } as TimedContext);

let lines: string[];
beforeEach(() => {
  lines = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean(lines.push(String(text))));
});

const depsOf = (changes: Partial<Handling> = {}) => {
  const done: unknown[] = [];
  const deps: Handling = {
    run: async (task) => void done.push(task),
    sendDueTasks: async () => void done.push('due'),
    hasTime: () => true,
    ...changes,
  };
  return { deps, done };
};

describe('the function billing', () => {
  test('runs the task of a message', async () => {
    const { deps, done } = depsOf();
    expect(await handleEvent(deps, messages(JSON.stringify(TASK)))).toEqual({ batchItemFailures: [] });
    expect(done).toEqual([TASK]);
  });

  test('sends due tasks when its schedule invokes it', async () => {
    const { deps, done } = depsOf();
    expect(await handleEvent(deps, { 'detail-type': 'Scheduled Event', detail: {} })).toBeUndefined();
    expect(done).toEqual(['due']);
  });

  test('returns a failed task to the queue, and logs why', async () => {
    const { deps } = depsOf({ run: async () => Promise.reject(new Error('The table is away.')) });
    expect(await handleEvent(deps, messages(JSON.stringify(TASK)))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'ERROR',
      message: 'billing_task_failed',
      ...TASK,
      detail: 'The table is away.',
    });
  });

  test('begins no task without time for it', async () => {
    const { deps, done } = depsOf({ hasTime: () => false });
    expect(await handleEvent(deps, messages(JSON.stringify(TASK)))).toEqual({ batchItemFailures: [{ itemIdentifier: 'm0' }] });
    expect(done).toEqual([]);
  });

  test.each(['{}', '{"task":"close","organization":"org_1"}', '{"task":"delete","organization":"org_1"}'])(
    'fails for the message %s, which nothing sends',
    async (body) => {
      const { deps, done } = depsOf();
      await expect(handleEvent(deps, messages(body))).rejects.toThrow();
      expect(done).toEqual([]);
    },
  );

  test('passes a task to the rule of its kind', async () => {
    const done: unknown[] = [];
    const deps = { now: () => 0 } as never;
    const rule = (name: string) => async (with_: unknown, task: unknown) => void done.push([name, with_, task]);
    await runTask({ ...rules, close: rule('close'), expire: rule('expire') }, deps, TASK);
    expect(done).toEqual([['close', deps, TASK]]);
  });
});
