import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createWaitingStore, LEASE_MS, waitingOf } from '../../../../functions/inference/capacity/waiting-store.ts';
import { DatabaseUnavailable } from '../../../../shared/database/outage.ts';
import { inState, NO_PROGRESS } from '../../../../shared/deployments/deployment.ts';
import { createVirtualClock } from '../../../support/emulators/virtual-clock.ts';
import { type ColdWorld, startColdDeployments } from '../../../support/fixtures/cold-deployment.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { answerOf, atOnce, errorOf, NOBODY, settle } from './hold-fixtures.ts';

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

const wakes = (...seconds: number[]) => seconds.map((each) => ({ kind: 'wake' as const, at: 0, seconds: each }));

const deploymentsOf = async (organization: string, count: number, most: { mostHeld?: number; mostHeldOfOrganization: number }) => {
  const clock = createVirtualClock(Date.now());
  const names = Array.from({ length: count }, (_, i) => `model-${i}`);
  const worlds = await Promise.all(names.map((name) => cold.createWorld({ organization, clock, fields: { name }, ...most })));
  return { clock, worlds: worlds as [ColdWorld, ...ColdWorld[]] };
};

describe('the requests that wait for the deployments of an organization', () => {
  test('are at most its share, for all of them together, and a further one returns a 503 that says so', async () => {
    const organization = newId('organization');
    const { clock, worlds } = await deploymentsOf(organization, 2, { mostHeld: 2, mostHeldOfOrganization: 3 });
    const environments = await Promise.all(worlds.map((world) => world.createEnvironment()));
    const replies = environments.map(({ ask }) => ask('Hi', 280));
    await clock.rest();
    replies.push((environments[0] as (typeof environments)[0]).ask('Hi', 280));
    await clock.rest();
    const reply = await atOnce((environments[1] as (typeof environments)[0]).ask('Hi', 280));
    expect([reply.statusCode, Number(reply.headers['retry-after'])]).toEqual([503, 600]);
    expect(errorOf(reply)).toMatchObject({
      code: 'deployment_waking',
      message: expect.stringMatching(
        /of your organization wait for capacity already: at most 3 can.*Send fewer with 'X-Wait-For-Capacity'/,
      ),
    });
    const neighbour = await cold.createWorld({ clock, mostHeldOfOrganization: 3 });
    replies.push((await neighbour.createEnvironment()).ask('Hi', 280));
    await clock.rest();
    expect([await worlds[0].waitingOf(), await neighbour.waitingOf()]).toEqual([3, 1]);
    for (const world of [...worlds, neighbour]) await world.bringUp();
    await settle(neighbour, Promise.all(replies));
    expect([await worlds[0].waitingOf(), await neighbour.waitingOf()]).toEqual([0, 0]);
  });

  test('are exactly its share when many come to many environments at the same time', async () => {
    const { clock, worlds } = await deploymentsOf(newId('organization'), 4, { mostHeldOfOrganization: 10 });
    const environments = await Promise.all([...worlds, ...worlds].map((world) => world.createEnvironment()));
    const statuses: number[] = [];
    const replies = Array.from({ length: 48 }, async (_, i) => {
      const reply = await environments[i % environments.length]?.ask('Hi', 280);
      statuses.push(reply?.statusCode ?? 0);
    });
    await clock.rest();
    expect([statuses.length, new Set(statuses), await worlds[0].waitingOf()]).toEqual([38, new Set([503]), 10]);
    for (const world of worlds) await world.bringUp();
    await settle(worlds[0], Promise.all(replies));
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });

  test('leave room for others as soon as they run, and when their caller’s deployment fails', async () => {
    const world = await cold.createWorld({ mostHeldOfOrganization: 1, fields: { starts: wakes(10) } });
    world.container.answerMs = 100_000;
    const { ask } = await world.createEnvironment();
    const first = ask('First', 280);
    await world.clock.rest();
    expect(errorOf(await atOnce(ask('Second', 280))).message).toContain('at most 1 can');
    await world.bringUp();
    await world.clock.advance(5_000, 1_000);
    expect([await world.waiting(), await world.waitingOf()]).toEqual([{ held: 1, running: 1 }, 0]);
    expect(answerOf(await settle(world, first))).toBe('Answer to First');
    await world.write((row) => inState(row, 'waking', world.clock.now()));
    await world.setReady(false);
    world.container.copies = 0;
    const third = ask('Third', 280);
    await world.clock.rest();
    expect(await world.waitingOf()).toBe(1);
    await world.write((row) => inState(row, 'failed', world.clock.now()));
    expect(errorOf(await settle(world, third)).code).toBe('deployment_not_ready');
    expect([await world.waiting(), await world.waitingOf()]).toEqual([NOBODY, 0]);
  });

  test('give their share back if they get no place at their deployment', async () => {
    const world = await cold.createWorld({ mostHeld: 1 });
    const { ask } = await world.createEnvironment();
    const held = ask('Hi', 280);
    await world.clock.rest();
    expect(errorOf(await atOnce(ask('Hi', 280))).message).toMatch(/Too many requests wait for it already: at most 1 can/);
    const broken = await world.createEnvironment({
      waiting: { ...world.waitingList, join: () => Promise.reject(new DatabaseUnavailable(new Error('Out of reach.'))) },
    });
    expect((await atOnce(broken.ask('Hi', 280))).statusCode).toBe(503);
    expect(await world.waitingOf()).toBe(1);
    await world.bringUp();
    await settle(world, held);
  });

  test('free the places of functions that crashed after a lease', async () => {
    const world = await cold.createWorld({ mostHeldOfOrganization: 1 });
    const table = cold.test.tables.Deployments as string;
    const list = createWaitingStore(world.clock.watch(cold.test.database), table, 1, waitingOf('on_demand'));
    await list.join({ listId: world.organization, requestId: 'req_dead', joinedAtMs: 0 }, world.clock.now());
    const { ask } = await world.createEnvironment();
    expect((await atOnce(ask('Hi', 280))).statusCode).toBe(503);
    await world.clock.advance(LEASE_MS, 1_000);
    const reply = ask('Hi', 280);
    await world.clock.rest();
    expect(await world.waitingOf()).toBe(1);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('return 503 if others took their places during an outage that was longer than a lease', async () => {
    const world = await cold.createWorld({ mostHeldOfOrganization: 1 });
    const { ask } = await world.createEnvironment();
    const first = ask('First', 280);
    await world.clock.rest();
    world.outage.isOn = true;
    await world.clock.advance(LEASE_MS + 5_000, 1_000);
    const table = cold.test.tables.Deployments as string;
    const list = createWaitingStore(world.clock.watch(cold.test.database), table, 1, waitingOf('on_demand'));
    expect(await list.join({ listId: world.organization, requestId: 'req_other', joinedAtMs: 0 }, world.clock.now())).toBeDefined();
    world.outage.isOn = false;
    expect(errorOf(await settle(world, first))).toMatchObject({
      code: 'deployment_waking',
      message: expect.stringContaining('Too many requests'),
    });
  });

  test('take at most its share of a shared model’s list, so that other organizations can still join', async () => {
    const world = await cold.createWorld({ scope: 'serverless', mostHeld: 4, mostHeldOfOrganization: 1 });
    const [one, other] = [await world.createEnvironment({}, { org: newId('organization') }), await world.createEnvironment()];
    const replies = [one.ask('Hi', 280), other.ask('Hi', 280)];
    await world.clock.rest();
    expect(errorOf(await atOnce(one.ask('Hi', 280))).message).toMatch(/The model .* of your organization .* at most 1 can/);
    expect(await world.waiting()).toEqual({ held: 2, running: 0 });
    await world.bringUp();
    expect((await settle(world, Promise.all(replies))).map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  });
});

describe('a request whose deployment can’t be ready in its time', () => {
  const creating = (startedAtMs: number) => ({
    state: 'creating' as const,
    transitions: [
      { state: 'pending' as const, at: startedAtMs },
      { state: 'creating' as const, at: startedAtMs },
    ],
  });
  const reason = (code: string) => ({ code, message: 'None is free.', action: 'Wait.' });

  test.each([
    ['none of its wakes was that fast', () => ({ starts: wakes(290, 300, 400) }), /can't be ready in the time.*or allow more time/],
    ['it is created for the first time', () => creating(Date.now()), /can't be ready in the time/],
    [
      'AWS has no instance',
      () => ({ ...creating(Date.now() - 700_000), starts: wakes(10), reason: reason('insufficient_capacity') }),
      /no instance is free for it/,
    ],
    [
      'the account has no quota left',
      () => ({ ...creating(Date.now() - 700_000), starts: wakes(10), reason: reason('quota_exceeded') }),
      /no instance is free for it/,
    ],
    [
      'it has no instance after twice the time in which others were ready',
      () => ({ ...creating(Date.now() - 121_000), starts: wakes(30, 60), progress: { ...NO_PROGRESS, wanted: 1, pending_capacity: 1 } }),
      /no instance is free for it/,
    ],
  ])('is not held, but gets a 503 at once, if %s', async (_, fields, message) => {
    const world = await cold.createWorld({ fields: fields() });
    const { ask, events } = await world.createEnvironment();
    const atMs = world.clock.now();
    const reply = await atOnce(ask('Hi', 100));
    expect([reply.statusCode, errorOf(reply).code, world.clock.now()]).toEqual([503, 'deployment_waking', atMs]);
    expect(errorOf(reply).message).toMatch(message);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect([await world.waiting(), await world.waitingOf(), (await events())[0]?.cost_nanos]).toEqual([NOBODY, 0, 0n]);
  });

  test('stops waiting once AWS turns out to have no instance', async () => {
    const world = await cold.createWorld({ fields: { starts: wakes(100) } });
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 280);
    await world.clock.advance(5_000, 1_000);
    expect(await world.waitingOf()).toBe(1);
    await world.write((row) => ({ ...row, reason: reason('insufficient_capacity') }));
    const beforeMs = world.clock.now();
    expect(errorOf(await settle(world, reply)).message).toContain('no instance is free');
    expect(world.clock.now() - beforeMs).toBeLessThan(5_000);
    expect([await world.waiting(), await world.waitingOf()]).toEqual([NOBODY, 0]);
  });

  test('waits if only a newer generation got no instance', async () => {
    const world = await cold.createWorld({ fields: { starts: wakes(10), state: 'waking', reason: reason('insufficient_capacity') } });
    await world.write((row) => ({
      ...row,
      generations: [...row.generations, { ...(row.generations[0] as (typeof row.generations)[0]), number: 2, status: 'failed' }],
    }));
    const { ask } = await world.createEnvironment();
    const reply = ask('Hi', 100);
    await world.clock.rest();
    expect(await world.waitingOf()).toBe(1);
    await world.bringUp();
    expect(answerOf(await settle(world, reply))).toBe('Answer to Hi');
  });

  test('gets a 503 at once if those before it take longer than it waits, as far as earlier ones tell', async () => {
    const fields = { starts: wakes(10), max_concurrency_per_copy: 1, copies: { min: 1, max: 1 } };
    const world = await cold.createWorld({ fields });
    world.container.answerMs = 20_000;
    const { ask } = await world.createEnvironment();
    const measured = ask('First', 280);
    await world.clock.advance(1_000);
    await world.bringUp();
    await settle(world, measured);

    world.container.copies = 0;
    await world.setReady(false);
    await world.write((row) => ({
      ...inState(row, 'waking', world.clock.now()),
      wake: { started_at: world.clock.now() },
      progress: NO_PROGRESS,
    }));
    // 50 s are left after the start: one request at once, and two more in turn.
    const held = ['A', 'B', 'C'].map((question) => ask(question, 60));
    await world.clock.rest();
    expect(await world.waiting()).toEqual({ held: 3, running: 0 });
    const reply = await atOnce(ask('D', 60));
    expect([reply.statusCode, errorOf(reply).code]).toEqual([503, 'deployment_waking']);
    expect(errorOf(reply).message).toContain('The requests that wait for it already take longer');
    expect([await world.waiting(), await world.waitingOf()]).toEqual([{ held: 3, running: 0 }, 3]);
    const patient = ask('E', 280);
    await world.clock.rest();
    expect((await world.waiting()).held).toBe(4);
    await world.bringUp();
    await settle(world, Promise.all([...held, patient]));
  });
});
