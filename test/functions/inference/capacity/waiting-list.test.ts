import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { LEASE_MS } from '../../../../functions/inference/capacity/waiting-store.ts';
import { startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';
import { sized } from '../../../support/sized.ts';
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

describe('the waiting list', () => {
  test('rejects a request beyond its cap at once, in any environment', async () => {
    const world = await cold.createWorld({ mostHeld: 2 });
    const environments = [await world.createEnvironment(), await world.createEnvironment()];
    const replies = environments.map(({ ask }) => ask('Hi', 280));
    await world.clock.rest();
    const third = await environments[0]?.ask('Hi', 280);
    expect(errorOf(third as { body: unknown })).toMatchObject({
      code: 'deployment_waking',
      message: expect.stringContaining('Too many requests wait'),
    });
    await world.bringUp();
    await settle(world, Promise.all(replies));
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('forgets holders that crashed, whether they waited or ran, and lets others in', async () => {
    const world = await cold.createWorld({ mostHeld: 3, fields: { max_concurrency_per_copy: 1 } });
    const { clock, waitingList, deployment } = world;
    const { ask } = await world.createEnvironment();
    // Functions that crashed renew nothing.
    for (const requestId of ['req_ran', 'req_waited'])
      await waitingList.join({ listId: deployment.id, requestId, joinedAtMs: clock.now() - 1 }, clock.now());
    expect(await waitingList.release({ listId: deployment.id, requestId: 'req_ran', joinedAtMs: 0 }, 1, clock.now())).toBe(true);
    const waiting = ask('Hi', 280);
    await clock.rest();
    expect(await world.waiting()).toEqual({ held: 3, running: 1 });
    expect(errorOf(await ask('Hi', 280)).message).toContain('Too many requests wait');
    await world.bringUp();
    await clock.advance(LEASE_MS - 1_000, 1_000);
    expect(world.container.invocations).toBe(0);
    await clock.advance(3_000, 1_000);
    expect(answerOf(await waiting)).toBe('Answer to Hi');
    expect(await world.waiting()).toEqual(NOBODY);
  });

  test('has room for others when holders that crashed have expired', async () => {
    const world = await cold.createWorld({ mostHeld: 1 });
    const { clock, waitingList, deployment } = world;
    const join = (requestId: string) => waitingList.join({ listId: deployment.id, requestId, joinedAtMs: clock.now() }, clock.now());
    const first = { ahead: 0, meanMs: undefined };
    expect([await join('req_dead'), await join('req_dead'), await join('req_1')]).toEqual([first, first, undefined]);
    await clock.advance(LEASE_MS, LEASE_MS);
    expect([await join('req_1'), await join('req_2')]).toEqual([first, undefined]);
    expect(await world.waiting()).toEqual({ held: 1, running: 0 });
  });

  test('keeps the place of an answer that takes longer than its lease', async () => {
    const world = await cold.createWorld({ fields: { max_concurrency_per_copy: 1 } });
    world.container.answerMs = 3 * LEASE_MS;
    const { ask } = await world.createEnvironment();
    const replies = ['A', 'B'].map((question) => ask(question, 270));
    await world.clock.rest();
    await world.bringUp();
    await settle(world, Promise.all(replies));
    expect(world.container.mostRunning).toBe(1);
  });
});

// A quarter of them can wait.
const CALLERS = sized(80, 200);
const HELD = CALLERS / 4;

describe(`${CALLERS} callers of ten environments`, () => {
  test('wake the deployment once; those that are held get their own answers, and the rest 503 at once', async () => {
    const world = await cold.createWorld({ mostHeld: HELD, fields: { max_concurrency_per_copy: 8 } });
    world.container.answerMs = 1_000;
    const environments = await Promise.all(Array.from({ length: 10 }, () => world.createEnvironment()));
    const statuses: number[] = [];
    const replies = Array.from({ length: CALLERS }, async (_, i) => {
      const question = `Question ${i}`;
      // Every other one waits.
      const reply = await environments[i % 10]?.ask(question, i % 2 === 0 ? 280 : undefined);
      statuses.push(reply?.statusCode ?? 0);
      return { question, reply: reply as { statusCode: number; body: unknown } };
    });
    await world.clock.rest();
    expect(world.reconciled).toEqual([world.deployment.id]);
    expect([statuses.length, await world.waiting()]).toEqual([CALLERS - HELD, { held: HELD, running: 0 }]);
    await world.clock.advance(30_000, 1_000);
    await world.bringUp(2);
    const ended = await settle(world, Promise.all(replies));
    const answered = ended.filter(({ reply }) => reply.statusCode === 200);
    expect(answered).toHaveLength(HELD);
    for (const { question, reply } of answered) expect(answerOf(reply)).toBe(`Answer to ${question}`);
    for (const { reply } of ended) if (reply.statusCode !== 200) expect(errorOf(reply).code).toBe('deployment_waking');
    expect(world.container.mostRunning).toBeLessThanOrEqual(16);
    expect((await world.row()).transitions.filter(({ state }) => state === 'waking')).toHaveLength(1);
    expect(await world.waiting()).toEqual(NOBODY);
    const events = (await Promise.all(environments.map((environment) => environment.events()))).flat();
    expect([events.length, events.filter(({ cost_nanos }) => cost_nanos > 0n).length]).toEqual([CALLERS, HELD]);
  });
});
