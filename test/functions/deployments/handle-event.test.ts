import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deploymentOf } from '../../../functions/deployments/events.ts';
import { type HandlerDependencies, handleEvent, queuedReconciliations } from '../../../functions/deployments/handle-event.ts';
import { createReconciliations } from '../../../functions/deployments/reconciliations.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { TimedContext } from '../../../shared/middleware/deadline.ts';
import { middy } from '../../../shared/middleware/middy.ts';
import { queueMessages } from '../../../shared/middleware/queue-messages.ts';

beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const NOW = 1_800_000_000_000;
const ids = Array.from({ length: 60 }, () => newTimedId('deployment', NOW));
const [id = '', other = ''] = ids;

const setUp = (failing: readonly string[] = [], stateOf: HandlerDependencies['stateOf'] = async () => 'in_service') => {
  const reconciled: string[] = [];
  const resumed: string[] = [];
  const sent: { body: string; group: string; deduplicationId: string }[] = [];
  const questions: unknown[] = [];
  let hasTime = true;
  const findings = { weights: { passed: true, message: 'ok' }, quotas: [] };
  const handling: HandlerDependencies = {
    reconcile: async (each) => {
      if (failing.includes(each)) throw new Error('The database is away.');
      reconciled.push(each);
      return { outcome: 'done' };
    },
    attendBenchmark: async (each) => void resumed.push(each),
    validate: async (question) => {
      questions.push(question);
      return findings;
    },
    reconciliations: createReconciliations({ send: async (message) => void sent.push(message) }),
    listLive: async function* () {
      yield* ids;
    },
    stateOf,
    installation: 'sluice',
    now: () => NOW,
  };
  const handle = (event: unknown) =>
    middy<unknown, unknown>()
      .use(queueMessages(queuedReconciliations(handling)))
      .handler((other) => handleEvent(handling, other, () => hasTime))(event, { hasTime: () => hasTime } as TimedContext);
  return {
    handle,
    reconciled,
    resumed,
    sent,
    questions,
    findings,
    endTime: () => {
      hasTime = false;
    },
  };
};

const record = (messageId: string, deployment: string) => ({ messageId, body: JSON.stringify({ reconcile: deployment }) });

describe('handleEvent makes a pass over a deployment when', () => {
  test('another function invokes it', async () => {
    const { handle, reconciled, resumed } = setUp();
    await handle({ reconcile: id });
    expect([reconciled, resumed]).toEqual([[id], [id]]);
  });

  test('its message is due; a message whose pass failed is delivered again', async () => {
    const { handle, reconciled, resumed } = setUp([other]);
    expect(await handle({ Records: [record('m1', id), record('m2', other)] })).toEqual({ batchItemFailures: [{ itemIdentifier: 'm2' }] });
    expect([reconciled, resumed]).toEqual([[id], [id]]);
  });

  test('SageMaker reports a change of one of its endpoints, but of no other endpoint', async () => {
    const { handle, reconciled } = setUp();
    const changed = (EndpointName: string) => ({
      'detail-type': 'SageMaker Endpoint State Change',
      source: 'aws.sagemaker',
      detail: { EndpointName },
    });
    await handle(changed(awsNameOf('sluice', id, 12)));
    for (const name of [awsNameOf('other', id, 1), 'sluice-tiny', 'sluice-', `${awsNameOf('sluice', id, 1)}-x`])
      await handle(changed(name));
    expect(reconciled).toEqual([id]);
  });
});

test('queues one message a deployment every minute, and drops repeated messages within 15 s', async () => {
  const { handle, sent } = setUp();
  await handle({ 'detail-type': 'Scheduled Event', detail: {} });
  expect(sent.map(({ body }) => JSON.parse(body))).toEqual(ids.map((each) => ({ reconcile: each })));
  expect(sent[0]).toMatchObject({ group: id, deduplicationId: `${id}-${NOW / 15_000}` });
});

describe('handleEvent, every minute', () => {
  const schedule = { 'detail-type': 'Scheduled Event', detail: {} };
  let lines: Record<string, unknown>[];
  beforeEach(() => {
    lines = [];
    jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line))) > 0);
  });
  const counted = () => lines.find(({ message }) => message === 'deployments_counted')?.states;

  test('counts 0 for every state without deployments', async () => {
    const states: Record<string, 'failed' | 'scaled_to_zero'> = { [id]: 'failed', [other]: 'scaled_to_zero' };
    const { handle } = setUp([], async (each) => states[each] ?? 'in_service');
    await handle(schedule);
    expect(counted()).toMatchObject({ in_service: ids.length - 2, failed: 1, scaled_to_zero: 1, pending: 0, waking: 0 });
    expect(counted()).not.toHaveProperty('deleted');
  });

  test('leaves out deployments that were deleted meanwhile', async () => {
    const { handle } = setUp([], async (each) => (each === id ? 'deleted' : each === other ? undefined : 'stopped'));
    await handle(schedule);
    expect(counted()).toMatchObject({ stopped: ids.length - 2, in_service: 0 });
  });

  test('queues a pass over each deployment even if a row can’t be read', async () => {
    const { handle, sent } = setUp([], async () => {
      throw new Error('The row is damaged.');
    });
    await handle(schedule);
    expect(sent).toHaveLength(ids.length);
    expect(counted()).toBeUndefined();
    expect(lines.map(({ message }) => message)).toContain('deployments_not_counted');
  });
});

test('leaves deployments for the next minute if the time ends', async () => {
  const { handle, sent, endTime } = setUp();
  endTime();
  await handle({ 'detail-type': 'Scheduled Event', detail: {} });
  expect(sent).toEqual([]);
  expect(await handle({ Records: [record('m1', id)] })).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
});

test('returns the findings of a validation', async () => {
  const { handle, questions, findings } = setUp();
  const question = { organization: 'org_1', model: 's3://weights/org_1/m/', allows_code: false, instance_types: ['ml.g5.xlarge'] };
  expect(await handle({ validate: question })).toEqual(findings);
  expect(questions).toEqual([question]);
});

test('rejects any other event', async () => {
  await expect(setUp().handle({ reconcile: 'key_1' })).rejects.toThrow();
});

test('finds the deployment of each name that it gives', () => {
  for (const each of ids) expect(deploymentOf('sluice', awsNameOf('sluice', each, 3))).toBe(each);
});
