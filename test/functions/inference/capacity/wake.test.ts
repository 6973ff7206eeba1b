import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { createStartTimesStore } from '../../../../shared/deployments/start-times-store.ts';
import { NOT_FOUND, startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';

let cold: Awaited<ReturnType<typeof startColdDeployments>>;
let logged: ReturnType<typeof jest.spyOn>;
beforeAll(async () => {
  cold = await startColdDeployments();
});
afterAll(() => cold.close());
beforeEach(() => {
  logged = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const bodyOf = ({ body }: { body: unknown }) =>
  JSON.parse(body as string) as {
    error: { code: string; message: string; wake: { started_at: number; expected_at: number; p50_seconds: number; p90_seconds: number } };
  };

describe('a request to a deployment that sleeps, without the header', () => {
  test('wakes it and returns 503 with the predicted time, and costs nothing', async () => {
    const starts = [40, 50, 60].map((seconds) => ({ kind: 'wake' as const, at: 0, seconds }));
    const world = await cold.createWorld({ fields: { starts } });
    const { ask, events } = await world.createEnvironment();
    const reply = await ask('Hi');
    expect([reply.statusCode, reply.headers['retry-after'], reply.headers['x-should-retry']]).toEqual([503, '50', undefined]);
    const startedAt = Math.floor(world.clock.now() / 1_000);
    expect(bodyOf(reply).error).toMatchObject({
      code: 'deployment_waking',
      message: expect.stringContaining("'qwen3-8b' is starting, and is expected to be ready in 50 s"),
      wake: { started_at: startedAt, expected_at: Math.ceil(world.clock.now() / 1_000 + 50), p50_seconds: 50, p90_seconds: 60 },
    });
    expect(await world.row()).toMatchObject({
      state: 'waking',
      version: 2,
      changes: 1,
      wake: { started_at: world.clock.now() },
      transitions: [{ state: 'pending' }, { state: 'waking', at: world.clock.now() }],
    });
    expect(world.reconciled).toEqual([world.deployment.id]);
    expect(await events()).toEqual([
      expect.objectContaining({ outcome: 'upstream_failed', error_code: 'deployment_waking', cost_nanos: 0n, prompt_tokens: 0 }),
    ]);
    expect(world.container.invocations).toBe(0);
  });

  test('does not wake it again while it wakes, and says how long it still takes', async () => {
    const world = await cold.createWorld({ fields: { starts: [{ kind: 'wake', at: 0, seconds: 300 }] } });
    const { ask } = await world.createEnvironment();
    await ask('Hi');
    await world.clock.advance(120_000, 60_000);
    const reply = await ask('Hi');
    expect([reply.headers['retry-after'], reply.headers['x-should-retry']]).toEqual(['180', 'false']);
    expect(world.reconciled).toHaveLength(1);
  });

  test('predicts its start from others on its instance type if it has never started', async () => {
    const world = await cold.createWorld();
    const [instanceType = ''] = world.deployment.generations[0]?.instance_types ?? [];
    const { database, tables } = cold.test;
    await createStartTimesStore(database, createRecordTable(database, tables.Deployments as string)).record(instanceType, 30);
    const { ask } = await world.createEnvironment();
    expect((await ask('Hi')).headers['retry-after']).toBe('30');
  });

  test('predicts from creations while the deployment is created again, because a wake does less', async () => {
    const starts = [
      { kind: 'creation' as const, at: 0, seconds: 58 },
      { kind: 'wake' as const, at: 0, seconds: 20 },
    ];
    const world = await cold.createWorld({ fields: { state: 'creating', starts } });
    await world.write((row) => ({ ...row, transitions: [{ state: 'pending', at: world.clock.now() }] }));
    const { ask } = await world.createEnvironment();
    expect((await ask('Hi')).headers['retry-after']).toBe('58');
  });

  test('wakes it from draining, when its instances have not been released yet', async () => {
    const world = await cold.createWorld({ fields: { state: 'draining' } });
    const { ask } = await world.createEnvironment();
    expect(bodyOf(await ask('Hi')).error.code).toBe('deployment_waking');
    expect(world.reconciled).toHaveLength(1);
  });

  test('wakes it although the reconciler wrote its row between the read and the write', async () => {
    const world = await cold.createWorld();
    const deployments = (await import('../../../support/fixtures/deployments.ts')).deploymentsOf(cold.test);
    let reads = 0;
    const find: typeof deployments.find = async (id) => {
      const found = await deployments.find(id);
      if (++reads === 1) await world.write((row) => row);
      return found;
    };
    const { ask } = await world.createEnvironment({ deployments: { ...deployments, find } });
    await ask('Hi');
    expect((await world.row()).state).toBe('waking');
    expect(world.reconciled).toHaveLength(1);
  });

  test('wakes it even if the reconciler cannot be called, which is logged', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment({
      reconcile: async () => {
        throw new Error('Lambda is out of reach.');
      },
    });
    expect((await ask('Hi')).statusCode).toBe(503);
    expect((await world.row()).state).toBe('waking');
    expect(JSON.stringify(logged.mock.calls)).toContain('reconcile_not_invoked');
  });

  test('is rejected before it wakes anything if its key is over a limit', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment({}, { requests_per_minute: 0 });
    expect((await ask('Hi')).statusCode).toBe(429);
    expect(world.reconciled).toEqual([]);
  });
});

describe('a request while the inventory is behind', () => {
  test('is answered by a deployment in service', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    await ask('Too early');
    await world.bringUp();
    const reply = await ask('Hi');
    expect([reply.statusCode, bodyOf(reply)]).toMatchObject([200, { choices: [{ message: { content: 'Answer to Hi' } }] }]);
  });

  test.each([
    ['has no copies', undefined],
    ['does not exist', NOT_FOUND],
  ])('wakes a deployment whose component %s, although the inventory says that it is ready', async (_, words) => {
    const world = await cold.createWorld({ isReady: true });
    Object.assign(world.container, { copies: 0 }, words && { words });
    const { ask } = await world.createEnvironment();
    const reply = await ask('Hi');
    expect(bodyOf(reply).error.code).toBe('deployment_waking');
    expect(reply.body).not.toMatch(/ApplicationAutoScaling|123456789012|Inference Component/);
    expect(world.reconciled).toHaveLength(1);
  });

  test('invokes a deployment once more if its copies fail but its row says in service, then returns 503', async () => {
    const world = await cold.createWorld({ isReady: true, fields: { state: 'in_service' } });
    world.container.copies = 0;
    const { ask } = await world.createEnvironment();
    const reply = await ask('Hi');
    expect([bodyOf(reply).error.code, reply.headers['retry-after'], world.container.invocations]).toEqual([
      'deployment_not_ready',
      '30',
      2,
    ]);
    expect(world.reconciled).toEqual([]);
  });

  test('neither reads nor wakes a deployment that is only busy', async () => {
    const world = await cold.createWorld({ isReady: true });
    Object.assign(world.container, { copies: 0, words: 'Something else' });
    const { ask } = await world.createEnvironment();
    expect((await ask('Hi')).statusCode).toBe(503);
    expect(world.calls.filter(({ table }) => table === cold.test.tables.Deployments)).toEqual([]);
  });

  test('makes no more calls for a deployment in service than for any other model', async () => {
    const world = await cold.createWorld({ isReady: true });
    const { ask } = await world.createEnvironment();
    await ask('Warm');
    world.calls.length = 0;
    expect((await ask('Hi')).statusCode).toBe(200);
    const { Keys, Usage } = cold.test.tables;
    expect(world.calls).toEqual([
      { method: 'update', table: Keys },
      { method: 'put', table: Usage },
      { method: 'update', table: Keys },
    ]);
  });
});

describe('a deployment that no request wakes', () => {
  const reason = {
    code: 'crash_loop',
    message: 'The container exits at its start.',
    action: 'Change max-model-len.',
    aws: 'CUDA at 10.0.0.1',
  };
  test.each([
    ['stopped', { state: 'stopped', wanted: 'stopped' }, "The deployment 'qwen3-8b' is stopped. Ask your administrator to start it."],
    ['to be stopped', { state: 'scaled_to_zero', wanted: 'stopped' }, 'is stopped.'],
    ['stopped for a reason', { state: 'stopped', reason }, 'is stopped: The container exits at its start. Change max-model-len.'],
    ['failed', { state: 'failed', reason }, 'has failed: The container exits at its start. Change max-model-len.'],
    ['being deleted', { state: 'deleting', wanted: 'deleted' }, 'is deleted. Use another deployment.'],
  ] as const)('returns 503 without a retry and says what to do: %s', async (_, fields, message) => {
    const world = await cold.createWorld({ fields });
    const { ask, events } = await world.createEnvironment();
    const reply = await ask('Hi', 280);
    expect([reply.statusCode, reply.headers['x-should-retry']]).toEqual([503, 'false']);
    expect(bodyOf(reply).error).toMatchObject({ code: 'deployment_not_ready', message: expect.stringContaining(message) });
    expect(reply.body).not.toContain('CUDA');
    expect([world.reconciled, (await events())[0]?.cost_nanos]).toEqual([[], 0n]);
  });

  test('hides from callers of a shared model why its owner’s deployment has failed', async () => {
    const world = await cold.createWorld({ scope: 'serverless', fields: { state: 'failed', reason } });
    const { ask } = await world.createEnvironment({}, { org: 'org_other' });
    const { error } = bodyOf(await ask('Hi'));
    expect(error).toMatchObject({
      code: 'deployment_not_ready',
      message: `The model '${world.name}' is not in service. Ask your administrator.`,
    });
  });
});

describe('two organizations with the same served name', () => {
  test('never wake, reach or pay for each other’s deployment', async () => {
    const [one, two] = [await cold.createWorld(), await cold.createWorld()];
    const [caller, other] = [await one.createEnvironment(), await two.createEnvironment()];
    await caller.ask('Hi');
    expect([(await one.row()).state, (await two.row()).state]).toEqual(['waking', 'scaled_to_zero']);
    expect([one.reconciled, two.reconciled]).toEqual([[one.deployment.id], []]);
    await one.bringUp();
    await caller.ask('Mine');
    expect([one.container.questions, two.container.questions]).toEqual([['Mine'], []]);
    expect([await other.events(), (await caller.events()).map(({ org_id }) => org_id)]).toEqual([[], [one.organization, one.organization]]);
  });

  test('wake nothing by an inventory row that names the other’s deployment', async () => {
    const [one, two] = [await cold.createWorld(), await cold.createWorld()];
    const { ask } = await one.createEnvironment();
    const model = await cold.test.models.get(one.organization, one.name);
    await cold.test.models.put(one.organization, { ...(model as object), deployment: { id: two.deployment.id, is_ready: false } } as never);
    expect(bodyOf(await ask('Hi')).error.code).toBe('deployment_not_ready');
    expect([(await two.row()).state, two.reconciled]).toEqual(['scaled_to_zero', []]);
  });
});

describe('a shared model that is made of a deployment', () => {
  test('wakes for callers of any organization', async () => {
    const world = await cold.createWorld({ scope: 'serverless' });
    const { ask } = await world.createEnvironment({}, { org: 'org_other' });
    expect(bodyOf(await ask('Hi')).error).toMatchObject({ code: 'deployment_waking', message: expect.stringContaining('The model ') });
    expect(world.reconciled).toEqual([world.deployment.id]);
  });
});
