import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { LEASE_MS } from '../../../functions/benchmark/session.ts';
import type { Database } from '../../../shared/database/database.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash } from '../../support/faults/unreliable-database.ts';
import { sized } from '../../support/sized.ts';
import { type BenchmarkWorld, createWorld } from './world.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await startTestDatabase();
});
afterAll(() => db.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
});

type When = 'before' | 'after';
// The reads and writes of a run, without its usage events.
const STEPS = ['get', 'transactWrite'];

// A process that dies at a call: none of its later calls happens.
const dyingAt = (database: Database, point: { call: number; when: When } | undefined) => {
  let calls = 0;
  let isDead = false;
  const proxy = new Proxy(database, {
    get: (target, name: keyof Database) => async (input: never) => {
      const isPoint = STEPS.includes(name) && calls++ === point?.call;
      if (isDead || (isPoint && point?.when === 'before')) isDead = true;
      if (isDead) throw new Crash();
      const reply = await target[name](input);
      if (isPoint) isDead = true;
      if (isDead) throw new Crash();
      return reply;
    },
  });
  return { database: proxy, calls: () => calls, hasDied: () => isDead };
};

const createSmallWorld = (): Promise<BenchmarkWorld> => createWorld(db, { benchmark: { apply: true, max_concurrency_per_copy: 4 } });

// Whatever happened, the benchmark has come to its result exactly once, and nothing runs any more.
const checkEnd = async (world: BenchmarkWorld): Promise<void> => {
  const row = await world.row();
  expect(row).toMatchObject({ status: 'finished', end: 'max_reached', result: 4, applied: 'applied' });
  expect(row.lease).toBeUndefined();
  expect(row.points.map((point) => point.concurrency_per_copy)).toEqual([1, 2, 4]);
  expect(row.spent_nanos).toBeLessThanOrEqual(row.budget_nanos);
  expect((await world.benchmarks.curves(world.deployment.id)).curves).toHaveLength(1);
  expect(await world.current()).toMatchObject({ max_concurrency_per_copy: 4, changes: 2 });
  expect(await world.auditEntries()).toHaveLength(1);
  expect(world.traffic.inFlight).toBe(0);
};

test('comes to its result once, whichever call its function dies at', async () => {
  const whole = dyingAt(db.database, undefined);
  const unhurt = await createSmallWorld();
  expect(await unhurt.run(whole.database)).toBe('ended');
  await checkEnd(unhurt);
  const points = Array.from({ length: whole.calls() }, (_, call) => (['before', 'after'] as const).map((when) => ({ call, when }))).flat();
  expect(points.length).toBeGreaterThan(40);
  const some = points.filter((_, i) => i % sized(6, 1) === 0);
  for (const point of some) {
    const world = await createSmallWorld();
    const dying = dyingAt(db.database, point);
    // The last reads of a run can be those of its end, after which it is over.
    await world.run(dying.database).catch((error: unknown) => expect(error).toBeInstanceOf(Crash));
    expect(world.traffic.inFlight).toBe(0);
    const { lease } = await world.row();
    // Nobody takes it from a function that may still run.
    if (lease) expect(await world.run()).toBe('not_wanted');
    await world.clock.moveTo(world.clock.now() + LEASE_MS);
    const outcome = await world.run();
    expect(outcome).toBe((await world.row()).attempts > 1 || point.call < 2 ? 'ended' : 'not_wanted');
    await checkEnd(world);
  }
});

test('runs once if it is started several times at the same moment', async () => {
  const world = await createSmallWorld();
  const outcomes = await Promise.all([world.run(), world.run(), world.run()]);
  expect(outcomes.filter((outcome) => outcome === 'ended')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'continues')).toHaveLength(0);
  await checkEnd(world);
});

test('ends after so many functions have died with it', async () => {
  const world = await createSmallWorld();
  for (let death = 0; death < 20; death++) {
    await expect(world.run(dyingAt(db.database, { call: 2, when: 'before' }).database)).rejects.toThrow(Crash);
    await world.clock.moveTo(world.clock.now() + LEASE_MS);
  }
  expect(await world.run()).toBe('ended');
  expect(await world.row()).toMatchObject({ status: 'failed', end: 'runner_failed', result: null, points: [] });
});

test('stops sending when it can no longer renew its lease', async () => {
  const world = await createWorld(db, { benchmark: { mix: [{ prompt_tokens: 10, completion_tokens: 2_000, weight: 1 }] } });
  let isOut = false;
  const hanging = new Proxy(db.database, {
    get: (target, name: keyof Database) => (input: never) =>
      isOut && STEPS.includes(name) ? new Promise(() => undefined) : target[name](input),
  });
  world.traffic.onRequest = (sent) => {
    isOut = sent > 2;
  };
  expect(await world.runBesides(hanging)).toBe('lost');
  expect(world.traffic.inFlight).toBe(0);
  expect(world.clock.now()).toBeLessThan((await world.row()).lease?.until ?? 0);
});
