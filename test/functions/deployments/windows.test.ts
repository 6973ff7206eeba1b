import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createMeterPass, repeatForCredit } from '../../../functions/deployments/gpu-time/gpu-time.ts';
import { windowsToServe } from '../../../functions/deployments/reconcile/apply-schedule.ts';
import { availableNanosOf } from '../../../shared/admission/item/limiter-item.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { createCatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { type Deployment, inState } from '../../../shared/deployments/deployment.ts';
import type { ScheduleWindow } from '../../../shared/deployments/schedule.ts';
import { createHoldStartCredit } from '../../../shared/gpu-time/start-credit.ts';
import { OUTBOX_PREFIX, readOutboxEntry } from '../../../shared/notifications/outbox.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { limitOrganization } from '../../support/fixtures/limit-organization.ts';
import { createWorld, type World } from './world.ts';

// An instance costs $1.20 an hour.
const PRICES = [{ version: 'price_1', effective_at: 0, hour_nanos: 1_200_000_000 }];
const STEP_NANOS = 300_000_000n;
const START_MS = 8 * MINUTE_MS;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
// Opens after so many whole minutes, once.
const windowIn = ({ plane }: World, fromMs: number, lengthMs: number, min_copies = 1): ScheduleWindow => {
  const opens = plane.now() + fromMs;
  const day = DAYS[new Date(opens).getUTCDay()] as ScheduleWindow['days'][number];
  return { days: [day], from: clock(opens), to: clock(opens + lengthMs), time_zone: 'UTC', min_copies };
};

const MAX_TURNS = 20;
// It sleeps, and has started once, in eight minutes. The clock is at a whole minute.
const asleep = async (fields: Partial<Deployment> = {}): Promise<World> => {
  const times = { instance_ms: SECOND_MS, release_ms: SECOND_MS };
  const world = await createWorld(
    database,
    { scale_to_zero_after_seconds: 300, copies: { min: 1, max: 3 }, ...fields },
    { settings: { times } },
  );
  await world.pass();
  for (let turn = 0; (await world.read()).state !== 'scaled_to_zero'; turn++) {
    if (turn === MAX_TURNS) throw new Error('It never slept.');
    world.plane.advance(MINUTE_MS);
    await world.pass();
  }
  world.plane.account.configure({
    ...world.plane.account.settings(),
    times: { ...times, instance_ms: START_MS, release_ms: 2 * MINUTE_MS },
  });
  await world.change(({ starts }) => ({ starts: starts.map((start) => ({ ...start, seconds: START_MS / SECOND_MS })) }));
  world.plane.advance(MINUTE_MS - (world.plane.now() % MINUTE_MS));
  return world;
};

const statesOver = async (world: World, ms: number): Promise<[minute: number, state: string][]> => {
  const begun = world.plane.now();
  const seen: [number, string][] = [];
  while (world.plane.now() < begun + ms) {
    const { state } = await world.run(MINUTE_MS, MINUTE_MS);
    if (seen.at(-1)?.[1] !== state) seen.push([(world.plane.now() - begun) / MINUTE_MS, state]);
  }
  return seen;
};

const instancesOf = ({ plane }: World): number => plane.account.proof().endpoints.reduce((sum, { instances }) => sum + instances, 0);

describe('a deployment with a schedule', () => {
  test('is in service when a window opens, stays so without requests, and sleeps when it ends', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 30 * MINUTE_MS, HOUR_MS)] });
    const states = await statesOver(world, 100 * MINUTE_MS);
    expect(states.map(([, state]) => state)).toEqual(['scaled_to_zero', 'waking', 'in_service', 'draining', 'scaled_to_zero']);
    const [, wakes = 0, serves = 0, drains = 0] = states.map(([minute]) => minute);
    expect(wakes).toBeGreaterThanOrEqual(19);
    expect(serves).toBeLessThanOrEqual(30);
    expect(drains).toBeGreaterThanOrEqual(90);
    expect(drains).toBeLessThanOrEqual(93);
    const { scheduled, starts } = await world.read();
    expect(scheduled).toBeUndefined();
    expect(starts.at(-1)?.kind).toBe('wake');
  });

  test('begins earlier if its own starts took longer, by the 90th percentile, but at most two hours', async () => {
    const slow = { kind: 'wake' as const, at: 0, seconds: 25 * 60 };
    const world = await asleep();
    await world.change({ starts: [slow, slow], schedule: [windowIn(world, 60 * MINUTE_MS, HOUR_MS)] });
    expect((await statesOver(world, 40 * MINUTE_MS))[1]).toEqual([expect.any(Number), 'waking']);
    const other = await asleep();
    await other.change({ starts: [{ ...slow, seconds: 5 * 3_600 }], schedule: [windowIn(other, 130 * MINUTE_MS, HOUR_MS)] });
    const [[, first], [minute, second]] = (await statesOver(other, 15 * MINUTE_MS)) as [[number, string], [number, string]];
    expect([first, second]).toEqual(['scaled_to_zero', 'waking']);
    expect(minute).toBeGreaterThanOrEqual(10);
  });

  test('is predicted from other deployments on its instance type until it has started itself', async () => {
    const world = await asleep();
    const asked: string[] = [];
    world.dependencies.startSecondsOf = async (type) => {
      asked.push(type);
      return [40 * 60];
    };
    await world.change({ starts: [], schedule: [windowIn(world, 60 * MINUTE_MS, HOUR_MS)] });
    const states = await statesOver(world, 22 * MINUTE_MS);
    expect(asked[0]).toBe('ml.g5.xlarge');
    expect(states[1]).toEqual([expect.any(Number), 'waking']);
  });

  test('doesn’t sleep again before the window opens, although it was ready early', async () => {
    const world = await asleep({ scale_to_zero_after_seconds: 60 });
    // Once it has started in eight minutes, its prediction is shorter.
    world.dependencies.startSecondsOf = async () => [50 * 60];
    await world.change({ starts: [], schedule: [windowIn(world, 60 * MINUTE_MS, 20 * MINUTE_MS)] });
    const states = await statesOver(world, 90 * MINUTE_MS);
    expect(states.map(([, state]) => state)).toEqual(['scaled_to_zero', 'waking', 'in_service', 'draining', 'scaled_to_zero']);
  });

  test('makes no write in the middle of a window', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 0, 2 * HOUR_MS)] });
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service', scheduled: { copies: 1 } });
    const { version } = await world.read();
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service', version });
  });

  test('has the most copies of windows that overlap, and goes back with each end', async () => {
    const world = await asleep();
    await world.change({
      schedule: [
        windowIn(world, 20 * MINUTE_MS, 3 * HOUR_MS),
        windowIn(world, 50 * MINUTE_MS, HOUR_MS, 2),
        windowIn(world, 63 * MINUTE_MS, 30 * MINUTE_MS, 3),
      ],
    });
    const leastAfter = async (ms: number) => {
      const { scheduled, progress, state } = await world.run(ms, MINUTE_MS);
      return [state, scheduled?.copies, progress.ready];
    };
    expect(await leastAfter(25 * MINUTE_MS)).toEqual(['in_service', 1, 1]);
    expect(await leastAfter(25 * MINUTE_MS)).toEqual(['in_service', 2, 2]);
    expect(await leastAfter(14 * MINUTE_MS)).toEqual(['in_service', 3, 3]);
    expect((await leastAfter(31 * MINUTE_MS))[1]).toBe(2);
    expect((await leastAfter(20 * MINUTE_MS))[1]).toBe(1);
    // Application Auto Scaling may now remove copies that are not busy, down to this many.
    expect(world.plane.calls.findLast(({ operation }) => operation === 'RegisterScalableTarget')?.input).toMatchObject({ MinCapacity: 1 });
    expect((await leastAfter(92 * MINUTE_MS))[0]).toBe('scaled_to_zero');
    expect(instancesOf(world)).toBe(0);
  });

  test('lets a request finish that is in flight when the window ends', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 0, 30 * MINUTE_MS)] });
    expect(await world.run(25 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service' });
    world.use.isInUse = true;
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service', progress: { ready: 1 } });
    expect((await world.read()).scheduled).toBeUndefined();
    world.use.isInUse = false;
    expect(await world.run(6 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  });

  test('counts the time without requests from the last one, not from the end of the window', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 0, 30 * MINUTE_MS)] });
    await world.run(29 * MINUTE_MS, MINUTE_MS);
    world.use.lastEventAtMs = world.plane.now();
    expect(await world.run(4 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service' });
    expect(await world.run(8 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  });

  test('counts a request of the window that is known only after its end, also if an owner removes the window', async () => {
    for (const isRemoved of [false, true]) {
      const world = await asleep();
      await world.change({ schedule: [windowIn(world, 0, isRemoved ? 2 * HOUR_MS : 30 * MINUTE_MS)] });
      await world.run(29 * MINUTE_MS, MINUTE_MS);
      const endedAtMs = world.plane.now() + 30 * SECOND_MS;
      if (isRemoved) await world.change({ schedule: [] });
      await world.run(2 * MINUTE_MS, MINUTE_MS);
      world.use.lastEventAtMs = endedAtMs;
      await world.run(10 * MINUTE_MS, MINUTE_MS);
      const drained = (await world.read()).transitions.findLast(({ state }) => state === 'draining');
      expect((drained?.at ?? 0) - endedAtMs).toBeGreaterThanOrEqual(300 * SECOND_MS);
    }
  });

  test('follows a change of its schedule inside a window, and sleeps once it has none', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 0, 2 * HOUR_MS)] });
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service' });
    await world.change({ schedule: [windowIn(world, 0, HOUR_MS, 2)] });
    expect(await world.run(15 * MINUTE_MS, MINUTE_MS)).toMatchObject({
      state: 'in_service',
      scheduled: { copies: 2 },
      progress: { ready: 2 },
    });
    await world.change({ schedule: [] });
    const row = await world.run(10 * MINUTE_MS, MINUTE_MS);
    expect(row).toMatchObject({ state: 'scaled_to_zero' });
    expect(row.scheduled).toBeUndefined();
    expect(instancesOf(world)).toBe(0);
  });

  test('stays stopped in its windows until someone starts it', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 0, 6 * HOUR_MS)] });
    await world.run(15 * MINUTE_MS, MINUTE_MS);
    await world.change((row) => ({ ...inState(row, 'stopping', world.plane.now()), wanted: 'stopped' }));
    const row = await world.run(HOUR_MS, MINUTE_MS);
    expect(row).toMatchObject({ state: 'stopped' });
    expect(row.scheduled).toBeUndefined();
    expect(world.plane.account.proof().endpoints).toEqual([]);
    await world.change((stopped) => ({ ...inState(stopped, 'pending', world.plane.now()), wanted: 'running' }));
    await world.pass();
    expect(await world.run(30 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service', scheduled: { copies: 1 } });
  });

  test('leaves nothing if it is deleted inside a window, or while it starts early for one', async () => {
    for (const fromMs of [0, 7 * MINUTE_MS]) {
      const world = await asleep();
      await world.change({ schedule: [windowIn(world, fromMs, 6 * HOUR_MS)] });
      expect(await world.run(3 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'waking' });
      await world.change((row) => ({ ...inState(row, 'deleting', world.plane.now()), wanted: 'deleted' }));
      expect(await world.run(30 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'deleted' });
      const { endpoints, inference_components, models, endpoint_configs } = world.plane.account.proof();
      expect([endpoints, inference_components, models, endpoint_configs].flat()).toEqual([]);
    }
  });

  test('doesn’t run for a window while its organization is suspended', async () => {
    const world = await asleep();
    let isSuspended = true;
    world.dependencies.isSuspended = async () => isSuspended;
    await world.change({ schedule: [windowIn(world, 0, 6 * HOUR_MS)] });
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
    isSuspended = false;
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service' });
    isSuspended = true;
    expect(await world.run(10 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  });

  test('runs for a window although the pass that began it crashed', async () => {
    const world = await asleep();
    await world.change({ schedule: [windowIn(world, 0, HOUR_MS)] });
    const { aws } = world.dependencies;
    const sageMaker = { ...aws.sageMaker, describeEndpoint: () => Promise.reject(new Error('crashed')) };
    await expect(world.pass({ ...world.dependencies, aws: { ...aws, sageMaker } })).rejects.toThrow('crashed');
    expect(await world.read()).toMatchObject({ state: 'scaled_to_zero', scheduled: { copies: 1 } });
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service' });
  });
});

describe('a deployment that is paid from credit', () => {
  const prepaid = async (grant: bigint, fields: Partial<Deployment> = {}) => {
    const world = await asleep(fields);
    await limitOrganization(database.limiters, world.organization, { isPrepaid: true });
    const catalogue = createCatalogueStore(createRecordTable(database.database, database.tables.Deployments as string));
    const keysTable = database.tables.Keys as string;
    const type = {
      id: 'ml.g5.xlarge',
      accelerator: 'NVIDIA A10G',
      accelerators: 1,
      accelerator_memory_gib: 24,
      memory_gib: 16,
      prices: PRICES,
      status: 'available' as const,
      version: 1,
    };
    // With the permissions of the function.
    const deploying = await database.as('deployments');
    Object.assign(world.dependencies, {
      database: deploying,
      repeatForCredit,
      holdStartCredit: createHoldStartCredit(deploying, keysTable, {
        instanceTypes: { ...catalogue.instanceTypes, get: async () => type },
      }),
      meterPass: createMeterPass({
        database: deploying,
        usageTable: database.tables.Usage as string,
        keysTable,
        pricesOf: async () => PRICES,
      }),
    });
    await database.limiters.addGrant(world.organization, 1, grant);
    const money = async () => {
      const item = await database.limiters.get(world.organization);
      return { held: (await world.read()).meter?.held_nanos ?? 0n, available: item && availableNanosOf(item) };
    };
    return { world, money };
  };
  const unpaidOf = async ({ organization }: World) => {
    const table = createRecordTable(database.database, database.tables.Notifications as string);
    const rows = await Array.fromAsync(table.all({ account: organization, prefix: OUTBOX_PREFIX }));
    return rows
      .map((row) => readOutboxEntry(row))
      .flatMap((entry) => (entry.kind === 'notification' ? [entry.notification] : []))
      .filter(({ type }) => type === 'sluice.deployment.window_unpaid.v1');
  };

  test('holds the credit for a scheduled start, as for a request’s wake, and pays the instances from it', async () => {
    const { world, money } = await prepaid(10n * STEP_NANOS);
    await world.change({ schedule: [windowIn(world, 30 * MINUTE_MS, HOUR_MS)] });
    for (let turn = 0; (await world.read()).state !== 'waking'; turn++) {
      if (turn === 120) throw new Error('It never woke.');
      await world.run(15 * SECOND_MS);
    }
    expect(await money()).toEqual({ held: STEP_NANOS, available: 9n * STEP_NANOS });
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service' });
    expect(await unpaidOf(world)).toEqual([]);
  });

  test('sleeps on without credit for the start, says so, and notifies its owner once for each window', async () => {
    const { world, money } = await prepaid(STEP_NANOS - 1n);
    const opens = world.plane.now() + 30 * MINUTE_MS;
    await world.change({
      schedule: [windowIn(world, 30 * MINUTE_MS, 40 * MINUTE_MS), windowIn(world, 100 * MINUTE_MS, 30 * MINUTE_MS)],
    });
    expect(await world.run(60 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero', reason: { code: 'window_unpaid' } });
    expect(await unpaidOf(world)).toEqual([
      expect.objectContaining({
        organization: world.organization,
        subject: world.id,
        data: expect.objectContaining({ deployment: world.id, name: 'qwen3-8b', opens_at: opens / SECOND_MS }),
      }),
    ]);
    expect(await money()).toEqual({ held: 0n, available: STEP_NANOS - 1n });
    const between = await world.run(15 * MINUTE_MS, MINUTE_MS);
    expect([between.state, between.reason, between.unpaid_window]).toEqual(['scaled_to_zero', undefined, undefined]);
    expect(await world.run(30 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero', reason: { code: 'window_unpaid' } });
    expect(await unpaidOf(world)).toHaveLength(2);
    await database.limiters.addGrant(world.organization, 2, 10n * STEP_NANOS);
    const woken = await world.run(15 * MINUTE_MS, MINUTE_MS);
    expect([woken.state, woken.reason]).toEqual(['in_service', undefined]);
  });

  test('keeps serving with fewer copies without credit for more', async () => {
    const { world } = await prepaid(4n * STEP_NANOS);
    await world.change({ schedule: [windowIn(world, 0, 3 * HOUR_MS)] });
    expect(await world.run(12 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'in_service', progress: { ready: 1 } });
    await world.change({ schedule: [windowIn(world, 0, 3 * HOUR_MS), windowIn(world, 0, HOUR_MS, 3)], copies: { min: 1, max: 9 } });
    await world.change(({ schedule = [] }) => ({
      schedule: schedule.map((each) => ({ ...each, min_copies: each.min_copies === 3 ? 9 : 1 })),
    }));
    expect(await world.run(5 * MINUTE_MS, MINUTE_MS)).toMatchObject({
      state: 'in_service',
      reason: { code: 'window_unpaid' },
      scheduled: { copies: 1 },
      progress: { wanted: 1, ready: 1 },
    });
    // Requests change the row, too.
    world.use.lastEventAtMs = world.plane.now();
    expect(await world.run(2 * MINUTE_MS, MINUTE_MS)).toMatchObject({
      last_used_at: world.use.lastEventAtMs,
      unpaid_window: expect.any(Number),
    });
    expect(await unpaidOf(world)).toHaveLength(1);
  });

  test('holds nothing after a window that was over before the deployment was ready, and sleeps', async () => {
    const { world, money } = await prepaid(10n * STEP_NANOS);
    await world.change({ schedule: [windowIn(world, 0, 5 * MINUTE_MS)] });
    expect(await world.run(4 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'waking' });
    expect((await money()).held).toBe(STEP_NANOS);
    expect(await world.run(20 * MINUTE_MS, MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
    const { held, available = 0n } = await money();
    expect(held).toBe(0n);
    expect(available).toBeGreaterThan(8n * STEP_NANOS);
    expect(instancesOf(world)).toBe(0);
  });
});

test('keeps to a window for which a deployment has begun, and to no other', () => {
  const schedule: ScheduleWindow[] = [
    { days: [...DAYS], from: '09:00', to: '10:00', time_zone: 'UTC', min_copies: 2 },
    { days: [...DAYS], from: '12:00', to: '13:00', time_zone: 'UTC', min_copies: 5 },
  ];
  const at = (time: string): number => Date.parse(`2026-11-26T${time}Z`);
  const begun = { copies: 2, starts_at: at('09:00') };
  expect(windowsToServe({ schedule }, 20 * MINUTE_MS, at('08:30'))).toBeUndefined();
  expect(windowsToServe({ schedule }, 30 * MINUTE_MS, at('08:30'))).toEqual(begun);
  expect(windowsToServe({ schedule, scheduled: begun }, 5 * MINUTE_MS, at('08:30'))).toEqual(begun);
  expect(windowsToServe({ schedule, unpaid_window: at('09:00') }, 5 * MINUTE_MS, at('08:30'))).toEqual(begun);
  expect(windowsToServe({ schedule, scheduled: begun }, 5 * MINUTE_MS, at('09:59'))).toEqual(begun);
  expect(windowsToServe({ schedule, scheduled: begun }, 5 * MINUTE_MS, at('10:00'))).toBeUndefined();
  expect(windowsToServe({ schedule: [], scheduled: begun }, 5 * MINUTE_MS, at('09:30'))).toBeUndefined();
});
