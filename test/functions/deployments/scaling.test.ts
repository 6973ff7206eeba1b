import { DescribeScalableTargetsCommand, DescribeScalingPoliciesCommand } from '@aws-sdk/client-application-auto-scaling';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { inState } from '../../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { createWorld, INSTALLATION, type World } from './world.ts';

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

const scalingOf = async ({ plane, id }: World) => {
  const ResourceId = `inference-component/${awsNameOf(INSTALLATION.name, id, 1)}`;
  const { ScalableTargets = [] } = await plane.autoScaling.send(
    new DescribeScalableTargetsCommand({ ServiceNamespace: 'sagemaker', ResourceIds: [ResourceId] }),
  );
  const { ScalingPolicies = [] } = await plane.autoScaling.send(
    new DescribeScalingPoliciesCommand({ ServiceNamespace: 'sagemaker', ResourceId }),
  );
  return { target: ScalableTargets[0], policy: ScalingPolicies[0]?.TargetTrackingScalingPolicyConfiguration };
};

const ready = async (fields: Parameters<typeof createWorld>[1] = {}): Promise<World> => {
  const world = await createWorld(database, fields);
  await world.pass();
  expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  return world;
};

test('leaves copies between the bounds to Application Auto Scaling, at 80 % of the allowed concurrency', async () => {
  const world = await ready({ copies: { min: 2, max: 3 }, max_concurrency_per_copy: 10 });
  expect(await scalingOf(world)).toMatchObject({
    target: { MinCapacity: 2, MaxCapacity: 3, SuspendedState: { DynamicScalingInSuspended: false, DynamicScalingOutSuspended: false } },
    policy: { TargetValue: 8 },
  });
  expect(await world.read()).toMatchObject({ progress: { wanted: 2, ready: 2 } });

  await world.change({ copies: { min: 1, max: 1 }, max_concurrency_per_copy: 5 });
  await world.pass();
  expect(await world.run(2 * MINUTE_MS)).toMatchObject({ progress: { wanted: 1, ready: 1 } });
  expect(await scalingOf(world)).toMatchObject({ target: { MinCapacity: 1, MaxCapacity: 1 }, policy: { TargetValue: 4 } });
});

test('sleeps exactly when it was unused for as long as its owner set, and no request is in flight', async () => {
  const world = await ready({ scale_to_zero_after_seconds: 300 });
  const readyAt = (await world.read()).last_used_at as number;
  world.use.lastEventAtMs = readyAt + 4 * MINUTE_MS;
  expect(await world.run(7 * MINUTE_MS)).toMatchObject({ state: 'in_service', last_used_at: readyAt + 4 * MINUTE_MS });
  world.use.isInUse = true;
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  world.use.isInUse = false;
  expect(await world.run(4 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
});

test('sleeps no sooner after a long request than its owner set, although its end is known late', async () => {
  const world = await ready({ scale_to_zero_after_seconds: 300 });
  world.use.isInUse = true;
  await world.run(10 * MINUTE_MS);
  const endedAt = world.plane.now();
  world.use.isInUse = false;
  await world.run(MINUTE_MS);
  expect(await world.read()).toMatchObject({ state: 'in_service' });
  world.use.lastEventAtMs = endedAt;
  expect(await world.run(4 * MINUTE_MS)).toMatchObject({ state: 'in_service', last_used_at: endedAt });
  await world.run(4 * MINUTE_MS);
  const { state, transitions } = await world.read();
  expect(state).toBe('scaled_to_zero');
  const [drainedAt = 0] = transitions.filter((each) => each.state === 'draining').map(({ at }) => at);
  expect(drainedAt - endedAt).toBeGreaterThanOrEqual(300_000);
});

test('meters draining instances without copies, and wakes by no alarm of the scaling', async () => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: 300 }, { settings: { times: { release_ms: 10 * MINUTE_MS } } });
  await world.pass();
  expect(await world.run(9 * MINUTE_MS)).toMatchObject({ state: 'draining', progress: { wanted: 0, ready: 0 } });
  expect(world.meteredInstances.at(-1)).toEqual([{ generation: 1, instance_type: 'ml.g5.xlarge', instances: 1, phase: 'draining' }]);
  expect(await scalingOf(world)).toMatchObject({
    target: {
      MinCapacity: 0,
      SuspendedState: { DynamicScalingInSuspended: true, DynamicScalingOutSuspended: true, ScheduledScalingSuspended: true },
    },
  });
  expect(await world.run(12 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  expect(world.meteredInstances.at(-1)).toEqual([]);
  expect(await world.run(10 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero', progress: { ready: 0 } });
});

test('sets a target for the scaling once, although it is a fraction', async () => {
  const world = await ready({ scale_to_zero_after_seconds: null, max_concurrency_per_copy: 7 });
  expect(await scalingOf(world)).toMatchObject({ policy: { TargetValue: 5.6 } });
});

// A request that finds the deployment asleep.
const wake = async (world: World): Promise<void> => {
  await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() } }));
};

// It has just become idle: its last copy is about to be removed.
const idle = async (): Promise<World> => {
  const world = await createWorld(
    database,
    { scale_to_zero_after_seconds: 300 },
    { settings: { times: { delete_ms: MINUTE_MS, release_ms: 10 * MINUTE_MS } } },
  );
  await world.pass();
  for (let passes = 0; (await world.read()).state !== 'draining'; passes++) {
    if (passes === 60) throw new Error('It never became idle.');
    await world.run(15_000);
  }
  return world;
};

test('stays `waking` until a new copy is ready, if it is woken while the last one is being removed', async () => {
  const world = await idle();
  await wake(world);
  await world.pass();
  expect(await world.read()).toMatchObject({ state: 'waking', progress: { ready: 0 } });
  const { transitions, starts } = await world.run(4 * MINUTE_MS);
  expect(transitions.slice(-2)).toMatchObject([{ state: 'waking' }, { state: 'in_service' }]);
  expect(starts.at(-1)?.kind).toBe('wake');
  expect(starts.at(-1)?.seconds).toBeGreaterThanOrEqual(60);
});

test('serves at once if it is woken before its last copy is removed, and predicts no start from that', async () => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: 300 });
  await world.pass();
  const { state } = await world.run(2 * MINUTE_MS);
  expect(state).toBe('in_service');
  // The pass that found it unused crashed before it removed the copy.
  await world.change((row) => ({ ...inState(row, 'draining', world.plane.now()) }));
  await wake(world);
  await world.pass();
  expect(await world.read()).toMatchObject({ state: 'in_service', starts: [{ kind: 'creation' }] });
});

test('takes no time for a wake whose function has a clock that is far ahead', async () => {
  const world = await ready({ scale_to_zero_after_seconds: 300 });
  expect(await world.run(12 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() + 10 * MINUTE_MS } }));
  await world.pass();
  const { starts } = await world.run(2 * MINUTE_MS);
  expect(starts.at(-1)).toMatchObject({ kind: 'wake', seconds: 0 });
});

test('shows the progress of the first copy: pending, downloading, loading, ready', async () => {
  const times = { instance_ms: MINUTE_MS, download_ms: MINUTE_MS, load_ms: MINUTE_MS };
  const world = await createWorld(database, {}, { settings: { times } });
  await world.pass();
  const seen = new Set<string>();
  for (let step = 0; step < 20; step++) {
    const { progress, state } = await world.run(15_000);
    const { pending_capacity, downloading, loading, ready: inService } = progress;
    seen.add(`${state} ${pending_capacity} ${downloading} ${loading} ${inService}`);
  }
  expect([...seen]).toEqual(['creating 1 0 0 0', 'creating 0 1 0 0', 'creating 0 0 1 0', 'in_service 0 0 0 1']);
});

test('makes no write and no change on AWS while a deployment is steady', async () => {
  const world = await ready({ scale_to_zero_after_seconds: null });
  const { version } = await world.read();
  const calls = world.plane.calls.length;
  for (let passes = 0; passes < 3; passes++) await world.pass();
  expect((await world.read()).version).toBe(version);
  const made = world.plane.calls.slice(calls).map(({ operation }) => operation);
  expect(made.length).toBe(18);
  expect(made.every((operation) => operation.startsWith('Describe'))).toBe(true);
  expect(world.messages.size > 0 && world.takeDue()).toBe(false);
});
