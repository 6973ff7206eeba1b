import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { shiftTraffic } from '../../../functions/control/deployments/rollout.ts';
import { type Deployment, inState } from '../../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../shared/time/units.ts';
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

// It never sleeps.
const inService = async (): Promise<World> => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: null });
  await world.pass();
  expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  return world;
};

const rollOut = async (world: World, percent: number): Promise<void> => {
  await world.change((row) => {
    const last = row.generations.at(-1) as Deployment['generations'][number];
    const next = { ...last, number: last.number + 1, status: 'creating' as const, created_at: world.plane.now() };
    return { generations: [...row.generations, next], traffic_percent: percent };
  });
  await world.pass();
};

const endpointsOf = ({ plane }: World): string[] =>
  plane.account
    .proof()
    .endpoints.map(({ name }) => name)
    .sort();
const namesOf = ({ id }: World, ...numbers: number[]): string[] => numbers.map((number) => awsNameOf(INSTALLATION.name, id, number));
const sharesOf = async (world: World): Promise<[string, number][]> =>
  ((await world.model())?.targets ?? []).map(({ endpoint, weight }) => [endpoint, weight]);

test('gives a ready generation its share of the requests, then all of them, and removes the old one', async () => {
  const world = await inService();
  const [first, second] = namesOf(world, 1, 2) as [string, string];
  await rollOut(world, 10);
  expect(await world.read()).toMatchObject({ state: 'updating' });
  expect(await sharesOf(world)).toEqual([[first, 100]]);

  expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service', generations: [{ status: 'ready' }, { status: 'ready' }] });
  expect(await sharesOf(world)).toEqual([
    [first, 90],
    [second, 10],
  ]);

  await world.change({ traffic_percent: 100 });
  await world.pass();
  expect(await sharesOf(world)).toEqual([[second, 100]]);
  // Callers know the old name for a while, and their streams go on.
  await world.run(8 * MINUTE_MS);
  expect(endpointsOf(world)).toEqual([first, second]);
  const { generations } = await world.run(8 * MINUTE_MS);
  expect(endpointsOf(world)).toEqual([second]);
  expect(generations).toMatchObject([{ number: 2, status: 'ready' }]);
});

test('removes a new generation that fails, says why, and leaves all requests to the old one', async () => {
  const world = await inService();
  const [first] = namesOf(world, 1) as [string];
  world.plane.account.configure({ faults: [{ kind: 'image_pull' }] });
  await rollOut(world, 100);
  const row = await world.run(3 * MINUTE_MS);
  expect(row).toMatchObject({
    state: 'in_service',
    reason: { code: 'image_not_started' },
    generations: [{ status: 'ready' }, { status: 'failed', reason: { code: 'image_not_started' } }],
  });
  expect(await sharesOf(world)).toEqual([[first, 100]]);
  expect(endpointsOf(world)).toEqual([first]);

  world.plane.account.configure({});
  await rollOut(world, 100);
  expect(await world.run(16 * MINUTE_MS)).toMatchObject({ state: 'in_service', generations: [{ number: 3, status: 'ready' }] });
  expect((await world.read()).reason).toBeUndefined();
});

test('returns the requests to the old generation if the new one fails after it had a share', async () => {
  const world = await inService();
  const [first, second] = namesOf(world, 1, 2) as [string, string];
  await rollOut(world, 50);
  await world.run(2 * MINUTE_MS);
  expect(await sharesOf(world)).toHaveLength(2);
  // Somebody deletes the endpoint of the new generation, and it can't be created again.
  world.plane.account.configure({ faults: [{ kind: 'insufficient_capacity' }] });
  world.deleteByHand(second);
  world.plane.advance(SECOND_MS);
  world.deleteByHand(second);
  const row = await world.run(5 * MINUTE_MS);
  expect(row).toMatchObject({ state: 'in_service', reason: { code: 'insufficient_capacity' } });
  expect(await sharesOf(world)).toEqual([[first, 100]]);
  expect(endpointsOf(world)).toEqual([first]);
});

test('returns the requests to the old generation if the new one gets no copies after a sleep', async () => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: 300 }, { settings: { times: { give_up_ms: 12 * HOUR_MS } } });
  await world.pass();
  await world.run(2 * MINUTE_MS);
  const [first, second] = namesOf(world, 1, 2) as [string, string];
  await rollOut(world, 10);
  await world.run(2 * MINUTE_MS);
  expect(await world.run(10 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  world.plane.account.configure({ ...world.plane.account.settings(), faults: [{ kind: 'stuck', name: second }] });
  world.use.isInUse = true;
  await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() } }));
  expect(await world.run(2 * HOUR_MS, 5 * MINUTE_MS)).toMatchObject({ state: 'in_service' });
  expect(await sharesOf(world)).toEqual([
    [first, 90],
    [second, 10],
  ]);
  expect(await world.run(HOUR_MS, 5 * MINUTE_MS)).toMatchObject({ state: 'in_service', reason: { code: 'start_timed_out' } });
  expect(await sharesOf(world)).toEqual([[first, 100]]);
});

test('removes a new generation at once that is rolled back before it has started: it costs GPU time', async () => {
  const world = await inService();
  const [first] = namesOf(world, 1) as [string];
  await rollOut(world, 10);
  await world.run(15 * SECOND_MS);
  expect(await world.read()).toMatchObject({ generations: [{ status: 'ready' }, { status: 'creating' }] });
  await world.change((row) => shiftTraffic(row, 0, world.plane.now()));
  await world.pass();
  await world.run(8 * MINUTE_MS);
  expect(endpointsOf(world)).toEqual([first]);
  expect(await sharesOf(world)).toEqual([[first, 100]]);
});

test('leaves the new generation without requests after a start, until the old one is ready as well', async () => {
  const world = await inService();
  const [first, second] = namesOf(world, 1, 2) as [string, string];
  await rollOut(world, 10);
  await world.run(2 * MINUTE_MS);
  const shares = await sharesOf(world);
  expect(shares).toEqual([
    [first, 90],
    [second, 10],
  ]);
  await world.change((row) => ({ ...inState(row, 'stopping', world.plane.now()), wanted: 'stopped' }));
  expect(await world.run(10 * MINUTE_MS)).toMatchObject({ state: 'stopped' });
  await world.change((row) => ({ ...inState(row, 'pending', world.plane.now()), wanted: 'running' }));
  // Nothing of the old generation can be made yet.
  const { aws } = world.dependencies;
  const { sageMaker } = aws;
  const createComponent: typeof sageMaker.createComponent = async (resources) => {
    if (resources.component.InferenceComponentName === first)
      throw Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' });
    await sageMaker.createComponent(resources);
  };
  world.dependencies.aws = { ...aws, sageMaker: { ...sageMaker, createComponent } };
  await world.pass();
  const waiting = await world.run(5 * MINUTE_MS);
  expect(waiting).toMatchObject({ state: 'creating', generations: [{ status: 'creating' }, { status: 'creating' }] });
  expect(await world.model()).toMatchObject({ deployment: { is_ready: false } });
  world.dependencies.aws = aws;
  const { state, starts } = await world.run(5 * MINUTE_MS);
  expect(state).toBe('in_service');
  // Neither a window nor a prediction counts the wait of the new one.
  expect(starts.slice(-2).map(({ seconds }) => seconds > 300)).toEqual([true, false]);
  expect(await sharesOf(world)).toEqual(shares);
});

test('wakes a deployment that sleeps, so that there is a generation to return to', async () => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: 300 });
  await world.pass();
  expect(await world.run(8 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
  await rollOut(world, 100);
  expect(await world.read()).toMatchObject({ state: 'waking', wake: { started_at: world.plane.now() } });
  world.use.lastEventAtMs = world.plane.now() + 20 * MINUTE_MS;
  expect(await world.run(16 * MINUTE_MS)).toMatchObject({ state: 'in_service', generations: [{ number: 2, status: 'ready' }] });
});

test('updates the shared model’s targets, and leaves its prices when the deployment is deleted', async () => {
  const world = await inService();
  const shared = `shared-${world.id}`;
  const own = await world.model();
  if (!own) throw new Error('The deployment has no model.');
  await database.models.put('serverless', { ...own, name: shared, version: 1 });
  await world.change({ published_as: shared });
  await rollOut(world, 100);
  await world.run(16 * MINUTE_MS);
  const [second] = namesOf(world, 2) as [string];
  expect(await database.models.get('serverless', shared)).toMatchObject({
    targets: [{ endpoint: second }],
    deployment: { is_ready: true },
  });
  await world.change({ wanted: 'deleted' });
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  expect(await database.models.get('serverless', shared)).toBeUndefined();
  expect(await database.models.retiredPrices('serverless', shared)).toEqual(own.prices);
});
