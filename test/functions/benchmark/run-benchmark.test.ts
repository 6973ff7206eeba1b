import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { Database } from '../../../shared/database/database.ts';
import type { Benchmark } from '../../../shared/deployments/benchmark.ts';
import { LEVEL_MS } from '../../../shared/deployments/benchmark.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { sized } from '../../support/sized.ts';
import { createWorld, TIMES } from './world.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await startTestDatabase();
});
afterAll(() => db.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
});

test('finds the most requests that meet the goals, and keeps the curve', async () => {
  const world = await createWorld(db);
  expect(await world.run(await db.as('benchmark'))).toBe('ended');
  const row = await world.row();
  // A step of c requests takes 20 + 2 c ms.
  expect(row).toMatchObject({ status: 'finished', end: 'goal_missed', result: 10 });
  expect(row.lease).toBeUndefined();
  expect(row.points.map(({ concurrency_per_copy }) => concurrency_per_copy)).toEqual([1, 2, 4, 8, 16, 12, 10, 11]);
  const knee = row.points.find(({ concurrency_per_copy }) => concurrency_per_copy === 10);
  expect(knee).toMatchObject({ copies: 1, requests: 60, failed_requests: 0, inter_token_ms: { p50: 40, p95: 40 }, meets_goals: true });
  expect(knee?.prompt_tokens).toBe(6_000);
  const { curves } = await world.benchmarks.curves(world.deployment.id);
  expect(curves).toEqual([expect.objectContaining({ id: row.id, result: 10, points: row.points, generation: 1 })]);
  expect(world.traffic.inFlight).toBe(0);
});

test('records a usage event for each request, as the organization’s, free and marked', async () => {
  const world = await createWorld(db, { benchmark: { max_concurrency_per_copy: 2 } });
  await world.run();
  const events = await world.events();
  const { id, sent, points } = await world.row();
  expect(events).toHaveLength(world.traffic.sent);
  expect(sent).toBe(world.traffic.sent);
  expect(new Set(events.map(({ request_id }) => request_id)).size).toBe(events.length);
  for (const event of events)
    expect(event).toMatchObject({
      org_id: world.deployment.organization,
      model: world.deployment.name,
      cost_nanos: 0n,
      user_id: 'benchmark',
      metadata: { benchmark: id },
    });
  const counted = points.reduce((sum, { requests }) => sum + requests, 0);
  expect(events.filter(({ outcome }) => outcome === 'completed').length).toBeGreaterThanOrEqual(counted);
  expect(events.every(({ outcome }) => outcome === 'completed' || outcome === 'client_closed')).toBe(true);
});

test('records each event once if the replies to its writes are lost, with the permissions that it has', async () => {
  const world = await createWorld(db, { benchmark: { max_concurrency_per_copy: 2 } });
  const write = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  // The client of the database sends a write again whose reply did not come.
  const again = new Proxy(await db.as('benchmark'), {
    get: (target, name: keyof Database) => async (input: never) => {
      if (name === 'put') await target.put(input);
      return target[name](input);
    },
  });
  expect(await world.run(again)).toBe('ended');
  expect(await world.events()).toHaveLength(world.traffic.sent);
  expect(JSON.stringify(write.mock.calls)).not.toContain('benchmark_event_not_written');
});

test('writes the result to the deployment on request, and records it in the audit log', async () => {
  const world = await createWorld(db, { benchmark: { apply: true } });
  await world.run(await db.as('benchmark'));
  expect(await world.row()).toMatchObject({ result: 10, applied: 'applied' });
  expect(await world.current()).toMatchObject({ max_concurrency_per_copy: 10, changes: 2 });
  const entries = await world.auditEntries();
  expect(entries).toEqual([
    expect.objectContaining({ action: 'deployment.updated', changes: { max_concurrency_per_copy: { from: 8, to: 10 } } }),
  ]);
});

test('leaves the deployment as it is if its owner changed it meanwhile', async () => {
  const world = await createWorld(db, { benchmark: { apply: true } });
  world.traffic.onRequest = async (sent) => {
    if (sent === 20) await world.change({ changes: 2, tags: { team: 'a' } });
  };
  await world.run();
  expect(await world.row()).toMatchObject({ status: 'finished', applied: 'changed_meanwhile' });
  expect((await world.current()).max_concurrency_per_copy).toBe(8);
});

test.each<[string, Parameters<Awaited<ReturnType<typeof createWorld>>['change']>[0], Benchmark['end']]>([
  ['goes to sleep', { state: 'draining' }, 'not_in_service'],
  ['is stopped', { wanted: 'stopped', state: 'stopping' }, 'not_in_service'],
  ['is deleted', { wanted: 'deleted', state: 'deleting' }, 'not_in_service'],
  ['gets another generation', { state: 'updating', generations: [] }, 'deployment_changed'],
])('stops, and sends nothing more, when the deployment %s', async (_, fields, end) => {
  const world = await createWorld(db);
  const { generations } = world.deployment;
  const changed = fields.generations ? { ...fields, generations: [...generations, { ...generations[0], number: 2 }] } : fields;
  world.traffic.onRequest = async (sent) => {
    if (sent === 60) await world.change(changed as typeof fields);
  };
  expect(await world.run()).toBe('ended');
  expect(await world.row()).toMatchObject({ status: 'stopped', end });
  expect(world.traffic.inFlight).toBe(0);
  expect(await world.run()).toBe('not_wanted');
});

test('says that the deployment went to sleep, also if its requests failed first', async () => {
  const world = await createWorld(db);
  world.traffic.onRequest = async () => {
    await world.change({ state: 'draining' });
    throw new Error('There is no capacity.');
  };
  expect(await world.run()).toBe('ended');
  expect(await world.row()).toMatchObject({ status: 'stopped', end: 'not_in_service' });
});

test('aborts its requests when it is cancelled', async () => {
  const world = await createWorld(db);
  world.traffic.onRequest = async (sent) => {
    if (sent !== 60) return;
    const { lease: _, ...row } = await world.row();
    await world.start({ ...row, status: 'stopped', end: 'cancelled', ended_at: 1 });
  };
  expect(await world.run()).toBe('lost');
  expect(await world.row()).toMatchObject({ status: 'stopped', end: 'cancelled' });
  expect(world.traffic.inFlight).toBe(0);
});

test('never spends more than its budget, nor begins a level that could', async () => {
  const levelSeconds = LEVEL_MS / 1_000;
  const arbitrary = fc.record({ seconds: fc.integer({ min: 80, max: 120 }), step_ms: fc.integer({ min: 20, max: 30 }) });
  const check = async ({ seconds, step_ms }: { seconds: number; step_ms: number }) => {
    // $3.60 an hour: a second costs a millidollar.
    const mix = [{ prompt_tokens: 100, completion_tokens: 60, weight: 1 }];
    const world = await createWorld(db, { benchmark: { budget_nanos: BigInt(seconds) * 1_000_000n, mix } });
    world.traffic.times = { ...TIMES, step_ms };
    const seen: bigint[] = [];
    world.traffic.onRequest = async () => void seen.push((await world.row()).spent_nanos);
    expect(await world.run()).toBe('ended');
    const row = await world.row();
    expect(row).toMatchObject({ status: 'stopped', end: 'budget_spent' });
    for (const nanos of [...seen, row.spent_nanos]) expect(nanos).toBeLessThanOrEqual(row.budget_nanos);
    expect(BigInt(world.clock.now() - world.benchmark.created_at) * 1_000n).toBeLessThanOrEqual(row.budget_nanos);
    expect(row.points.length > 0).toBe(seconds >= levelSeconds);
  };
  await fc.assert(fc.asyncProperty(arbitrary, check), { numRuns: sized(6, 60) });
});

test('stops when its instances become more expensive than the budget allows', async () => {
  const world = await createWorld(db, { benchmark: { budget_nanos: 200_000_000n } });
  const ml = (instances: number) => ({
    until: 0,
    running: [{ generation: 1, instance_type: 'ml.g5.xlarge', instances, phase: 'serving' as const }],
    held_nanos: 0n,
  });
  world.traffic.onRequest = async (sent) => {
    if (sent === 10) await world.change({ meter: ml(40) });
  };
  await world.run();
  expect(await world.row()).toMatchObject({ status: 'stopped', end: 'budget_spent' });
  expect((await world.row()).spent_nanos).toBeLessThanOrEqual(200_000_000n);
});

test('leaves the rest to the next run when its time is over, and that one measures nothing again', async () => {
  const world = await createWorld(db);
  let levels = 0;
  expect(await world.run(db.database, () => ++levels <= 3)).toBe('continues');
  const paused = await world.row();
  expect(paused).toMatchObject({ status: 'running', attempts: 1 });
  expect(paused.lease).toBeUndefined();
  expect(paused.points).toHaveLength(3);
  expect(await world.run()).toBe('ended');
  const row = await world.row();
  expect(row).toMatchObject({ status: 'finished', result: 10, attempts: 2 });
  expect(row.points.slice(0, 3)).toEqual(paused.points);
});

test('measures a level again if copies were added during it', async () => {
  const world = await createWorld(db, { deployment: { copies: { min: 1, max: 2 } } });
  world.traffic.onRequest = async (sent) => {
    if (sent === 60) await world.change({ progress: { ...world.deployment.progress, ready: 2 } });
  };
  await world.run();
  const { points } = await world.row();
  expect(points.map(({ copies }) => copies)).toEqual([1, ...points.slice(1).map(() => 2)]);
  expect(new Set(points.map(({ concurrency_per_copy }) => concurrency_per_copy)).size).toBe(points.length);
});

test('fails if the deployment answers no request, and counts a failed request as a missed goal', async () => {
  const broken = await createWorld(db);
  broken.traffic.onRequest = () => Promise.reject(new Error('Out of memory.'));
  await broken.run();
  expect(await broken.row()).toMatchObject({ status: 'failed', end: 'requests_failed', result: null });

  const overloaded = await createWorld(db);
  overloaded.traffic.onRequest = () => {
    if (overloaded.traffic.inFlight > 5) throw new Error('Too many requests.');
  };
  await overloaded.run();
  expect(await overloaded.row()).toMatchObject({ status: 'finished', end: 'goal_missed', result: 5 });
});

test('notifies of a rate of tokens that differs from an earlier benchmark’s by more than 15 %', async () => {
  const world = await createWorld(db, {
    benchmark: { goals: { ttft_p95_ms: 5_000, inter_token_p95_ms: 500 }, max_concurrency_per_copy: 8 },
  });
  const again = async (step_ms: number): Promise<Benchmark> => {
    world.traffic.times = { ...TIMES, step_ms };
    await world.start({ ...world.benchmark, id: `bench_${step_ms}` });
    await world.run(await db.as('benchmark'));
    return world.row();
  };
  await world.run();
  expect((await again(22)).drift).toBeUndefined();
  expect(await world.notifications()).toEqual([]);
  expect((await again(33)).drift).toMatchObject({ benchmark: 'bench_22', percent: -22 });
  expect(await world.notifications()).toEqual([
    expect.objectContaining({
      type: 'sluice.deployment.benchmark_drifted.v1',
      data: expect.objectContaining({
        deployment: world.deployment.id,
        benchmark: 'bench_33',
        earlier_benchmark: 'bench_22',
        percent: -22,
      }),
    }),
  ]);
});
