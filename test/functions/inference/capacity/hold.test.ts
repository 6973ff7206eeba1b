import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { inState } from '../../../../shared/deployments/deployment.ts';
import { startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';
import { answerOf, errorOf, NOBODY, settle } from './hold-fixtures.ts';

let cold: Awaited<ReturnType<typeof startColdDeployments>>;
beforeAll(async () => {
  cold = await startColdDeployments();
});
afterAll(() => cold.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('the header X-Wait-For-Capacity', () => {
  test.each(['-1', '1.5', 'soon', '', '1e2', '30, 60', '281', '99999'])('is rejected as %j, with its limits', async (header) => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const reply = await ask('Hi', header);
    expect(reply.statusCode).toBe(400);
    expect(errorOf(reply)).toMatchObject({
      param: 'X-Wait-For-Capacity',
      message: expect.stringMatching(/0 to 280.*560 with stream: true/),
    });
    expect([world.reconciled, await events()]).toEqual([[], []]);
  });

  test('is rejected on a stream from 561, and for a shared model that is made of a deployment', async () => {
    const [own, shared] = [await cold.createWorld(), await cold.createWorld({ scope: 'serverless' })];
    for (const world of [own, shared]) {
      const { ask } = await world.createEnvironment();
      expect((await ask('Hi', 561, { stream: true })).statusCode).toBe(400);
    }
  });

  test('makes no request wait if it is 0', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    expect(errorOf(await ask('Hi', 0)).code).toBe('deployment_waking');
    expect(await world.waiting()).toEqual(NOBODY);
  });
});

describe('a request that waits', () => {
  test('says so in its log line, because its first token says nothing about the host', async () => {
    const lines: Record<string, unknown>[] = [];
    jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(JSON.parse(String(line))) > 0);
    const world = await cold.createWorld({ isReady: true });
    const { ask } = await world.createEnvironment();
    await settle(world, ask('Hi', 280));
    await settle(world, ask('Hi', 0));
    const mayWait = lines.filter(({ message }) => message === 'request').map(({ may_wait }) => may_wait);
    expect(mayWait).toEqual([true, undefined]);
  });

  test('wakes the deployment and gets its answer, with its reservation held meanwhile', async () => {
    const world = await cold.createWorld();
    const { ask, events, keyId } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(60_000, 1_000);
    expect([(await world.row()).state, await world.waiting()]).toEqual(['waking', { held: 1, running: 0 }]);
    expect(Object.keys((await cold.test.limiters.whole(keyId))?.fl ?? {})).toHaveLength(1);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
    expect([world.reconciled, await world.waiting()]).toEqual([[world.deployment.id], NOBODY]);
    expect(await events()).toEqual([expect.objectContaining({ outcome: 'completed', completion_tokens: 2 })]);
    expect(world.clock.waiting()).toBe(0);
  });

  test('gets its answer when the inventory said that the deployment was ready', async () => {
    const world = await cold.createWorld({ isReady: true });
    world.container.copies = 0;
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(10_000, 1_000);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('for an adapter also waits until it is loaded, after the copies of its deployment', async () => {
    const source = 's3://weights/org_1/legal/';
    const adapter = { id: 'lora_1', name: 'qwen3-8b', source, created_at: 0, created_by: 'user_1', packed: { rank: 8, bytes: 1 } };
    const world = await cold.createWorld({ fields: { adapters: [{ ...adapter, state: 'creating' }] } });
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    await world.clock.advance(20_000, 1_000);
    expect([world.container.invocations, await world.waiting()]).toEqual([0, { held: 1, running: 0 }]);
    await world.write((before) => ({ ...before, adapters: [{ ...adapter, state: 'ready' }] }));
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('waits for a deployment that is being created', async () => {
    const world = await cold.createWorld({ fields: { state: 'creating' } });
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(10_000, 1_000);
    expect(world.reconciled).toEqual([]);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('is invoked again if the copy is in service a moment before it is reachable', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    world.container.copies = 0;
    await world.clock.advance(4_000, 1_000);
    expect(world.container.invocations).toBeGreaterThan(0);
    world.container.copies = 1;
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('looks at the deployment about once a second and writes nothing but its place', async () => {
    const world = await cold.createWorld({ fields: { starts: [{ kind: 'wake', at: 0, seconds: 60 }] } });
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(2_000, 1_000);
    world.calls.length = 0;
    await world.clock.advance(60_000);
    const methods = world.calls.map(({ method }) => method);
    const reads = methods.filter((method) => method === 'get').length;
    expect(reads).toBeGreaterThanOrEqual(48);
    expect(reads).toBeLessThanOrEqual(80);
    expect(methods.filter((method) => method !== 'get')).toEqual(Array(8).fill('update'));
    await world.bringUp();
    await settle(world, reply);
  });

  test('returns 503 with the wake and costs nothing if capacity does not come in time', async () => {
    const world = await cold.createWorld({ fields: { starts: [{ kind: 'wake', at: 0, seconds: 20 }] } });
    const { ask, events } = await world.createEnvironment();
    const reply = await settle(world, ask('Hi', 30));
    expect([reply.statusCode, errorOf(reply)]).toMatchObject([
      503,
      { code: 'deployment_waking', message: expect.stringContaining('not ready in the time'), wake: { started_at: expect.any(Number) } },
    ]);
    expect(await events()).toEqual([expect.objectContaining({ error_code: 'deployment_waking', cost_nanos: 0n, prompt_tokens: 0 })]);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('ends at once when the deployment fails, with the reason', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    const reason = { code: 'image', message: 'The image does not exist.', action: 'Choose another runtime.' };
    await world.write((row) => inState(row, 'failed', world.clock.now(), reason));
    expect(errorOf(await settle(world, reply))).toMatchObject({
      code: 'deployment_not_ready',
      message: "The deployment 'qwen3-8b' has failed: The image does not exist. Choose another runtime.",
    });
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('is the only one under its idempotency key: a retry gets a 409 meanwhile, and then its answer', async () => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const headers = { 'idempotency-key': 'once', 'X-User-Id': '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11' };
    const first = ask('Hi', 280, {}, headers);
    await world.clock.advance(5_000, 1_000);
    const retry = await ask('Hi', 280, {}, headers);
    expect([retry.statusCode, errorOf(retry).code, retry.headers['retry-after']]).toEqual([409, 'idempotency_in_progress', '10']);
    expect(await world.waiting()).toEqual({ held: 1, running: 0 });
    await world.bringUp();
    expect(answerOf(await settle(world, first))).toBe('Answer to Hi');
    expect(answerOf(await ask('Hi', 280, {}, headers))).toBe('Answer to Hi');
    expect([world.container.invocations, (await events()).length]).toEqual([1, 1]);
  });

  test('keeps its answer under its idempotency key, and a 503 frees the key', async () => {
    const world = await cold.createWorld();
    const { ask, events } = await world.createEnvironment();
    const headers = { 'idempotency-key': 'once', 'X-User-Id': '3f1c2f0e-0d0f-4a57-9a57-3f5a4f3c9b11' };
    expect(errorOf(await ask('Hi', undefined, {}, headers)).code).toBe('deployment_waking');
    const reply = ask('Hi', 280, {}, headers);
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
    expect((await ask('Hi', 280, {}, headers)).headers['idempotent-replayed']).toBe('true');
    expect([world.container.invocations, (await events()).length]).toEqual([1, 2]);
  });
});

describe('the copies', () => {
  test('get no more at a time than they can take, the oldest first', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 2 } });
    world.container.answerMs = 3_000;
    const { ask } = await world.createEnvironment();
    const replies: ReturnType<typeof ask>[] = [];
    for (let i = 0; i < 9; i++) {
      replies.push(ask(`Q${i}`, 280));
      await world.clock.advance(50);
    }
    await world.bringUp(1);
    const answers = await settle(world, Promise.all(replies));
    expect(answers.map(answerOf)).toEqual(replies.map((_, i) => `Answer to Q${i}`));
    expect(world.container.mostRunning).toBe(2);
    const places = world.container.questions.map((question) => Number(question.slice(1)));
    // Two that run at a time can arrive in either order.
    for (const [i, place] of places.entries()) expect(Math.abs(place - i)).toBeLessThanOrEqual(1);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('take more when some are added', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 2 } });
    world.container.answerMs = 60_000;
    const { ask } = await world.createEnvironment();
    const replies = Array.from({ length: 6 }, (_, i) => ask(`Q${i}`, 280));
    await world.clock.rest();
    await world.bringUp(1);
    await world.clock.advance(5_000);
    expect(world.container.running).toBe(2);
    await world.bringUp(2);
    await world.clock.advance(5_000);
    expect([world.container.running, await world.waiting()]).toEqual([4, { held: 6, running: 4 }]);
    await settle(world, Promise.all(replies));
  });

  test('leave a request with 503 no_capacity, at no cost, if they stay busy', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 1, starts: [{ kind: 'wake', at: 0, seconds: 10 }] } });
    world.container.answerMs = 100_000;
    const { ask } = await world.createEnvironment();
    const first = ask('First', 280);
    await world.clock.advance(100);
    const second = ask('Second', 30);
    await world.clock.rest();
    await world.bringUp();
    expect(errorOf(await settle(world, second)).code).toBe('no_capacity');
    expect(answerOf(await settle(world, first))).toBe('Answer to First');
  });
});
