import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '../../../support/eventually.ts';
import { startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';
import { read } from '../../../support/fixtures/pipeline.ts';
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

describe('a request that waits', () => {
  test('answers after an outage of the database, whatever it was doing meanwhile', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 1 } });
    world.container.answerMs = 50_000;
    const { ask } = await world.createEnvironment();
    const whole = ask('Whole', 280);
    await world.clock.advance(100, 50);
    const streamed = read(await ask('Streamed', 560, { stream: true }));
    const outage = async () => {
      world.outage.isOn = true;
      // Longer than until a comment is repeated, shorter than a lease.
      await world.clock.advance(20_000, 500);
      world.outage.isOn = false;
    };
    await outage();
    await world.bringUp();
    await world.clock.advance(5_000, 500);
    expect(await world.waiting()).toEqual({ held: 2, running: 1 });
    await outage();
    expect(answerOf(await settle(world, whole))).toBe('Answer to Whole');
    expect(await settle(world, streamed)).toMatch(/Answer to Streamed.*\[DONE\]/s);
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('gives up the place that it gets only after its deadline', async () => {
    const WHOLE_DEADLINE_MS = 280_000;
    const { setTimeout: start } = globalThis;
    let expire = (): void => undefined;
    jest.spyOn(globalThis, 'setTimeout').mockImplementation(((then: () => void, ms?: number) => {
      if (ms === WHOLE_DEADLINE_MS) expire = then;
      return start(then, ms);
    }) as typeof setTimeout);
    const world = await cold.createWorld();
    const joining = Promise.withResolvers<void>();
    const isWritten = Promise.withResolvers<void>();
    const join: typeof world.waitingList.join = async (...waiter) => {
      joining.resolve();
      await isWritten.promise;
      return world.waitingList.join(...waiter);
    };
    const { ask, events } = await world.createEnvironment({ waiting: { ...world.waitingList, join } });
    const reply = ask('Hi', 270);
    await joining.promise;
    expire();
    await eventually(async () => (await events()).length === 1, 'the request is settled');
    isWritten.resolve();
    expect(errorOf(await reply).code).toBe('upstream_timeout');
    await eventually(async () => (await world.waiting()).held === 0, 'its place is free');
    expect([world.clock.waiting(), (await events()).length]).toEqual([0, 1]);
  });

  test('returns before its deadline that the deployment starts, however late SageMaker reports no copies', async () => {
    const world = await cold.createWorld({ isReady: true, fields: { state: 'waking' } });
    Object.assign(world.container, { copies: 0, failMs: 100_000 });
    const { ask } = await world.createEnvironment();
    const startedAtMs = world.clock.now();
    expect(errorOf(await settle(world, ask('Hi', 280))).code).toBe('deployment_waking');
    expect(world.clock.now() - startedAtMs).toBeLessThan(280_000);
  });

  test('waits no longer than it said for an unreachable copy in service, without SageMaker’s words', async () => {
    const world = await cold.createWorld({ fields: { state: 'in_service' } });
    const { ask } = await world.createEnvironment();
    const startedAtMs = world.clock.now();
    const reply = await settle(world, ask('Hi', 10));
    expect([reply.statusCode, errorOf(reply).code]).toEqual([503, 'deployment_not_ready']);
    expect(world.clock.now() - startedAtMs).toBeLessThanOrEqual(12_000);
    const stream = ask('Hi', 10, { stream: true }).then((begun) => (typeof begun.body === 'string' ? begun.body : read(begun)));
    for (const text of [String(reply.body), await settle(world, stream)]) {
      expect(text).toContain('deployment_not_ready');
      expect(text).not.toMatch(/ApplicationAutoScaling|Inference Component/);
    }
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('runs if the deployment is in service with copies of another generation than the one that is counted', async () => {
    const world = await cold.createWorld();
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    await world.bringUp();
    await world.write((row) => ({ ...row, progress: { ...row.progress, ready: 0 } }));
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });
});
