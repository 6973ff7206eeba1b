import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newDeployment } from '../../support/fixtures/deployments.ts';
import { createWorld, type World } from './world.ts';

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

// The account’s resources by kind.
const counts = ({ plane }: World) => {
  const { models, endpoint_configs, endpoints, inference_components, scalable_targets } = plane.account.proof();
  return [models, endpoint_configs, endpoints, inference_components, scalable_targets].map(({ length }) => length);
};
const NOTHING_LEFT = [0, 0, 0, 0, 0];
test('gives the model of a deployment its task and its vectors', async () => {
  const serving = {
    ...newDeployment({ organization: 'org_1' }).serving,
    task: 'embed',
    embedding: { dimensions: 8, is_shortenable: true },
  } as const;
  const world = await createWorld(database, { serving });
  await world.pass();
  expect(await world.model()).toMatchObject({ task: 'embed', embedding: { dimensions: 8, is_shortenable: true } });
});

const ONE_OF_EACH = [1, 1, 1, 1, 1];

test('creates, serves, sleeps, wakes, stops, starts and deletes a deployment, and leaves nothing on AWS', async () => {
  const world = await createWorld(database);
  await world.pass();
  expect(await world.read()).toMatchObject({ state: 'creating', progress: { pending_capacity: 1 } });
  expect(await world.model()).toMatchObject({ status: 'published', deployment: { id: world.id, is_ready: false } });

  expect(await world.run(2 * MINUTE_MS)).toMatchObject({
    state: 'in_service',
    progress: { wanted: 1, ready: 1 },
    generations: [{ status: 'ready' }],
  });
  expect(counts(world)).toEqual(ONE_OF_EACH);
  expect(await world.model()).toMatchObject({ deployment: { is_ready: true }, targets: [{ weight: 100, container_model: 'qwen3-8b' }] });

  expect(await world.run(12 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero', progress: { wanted: 0, ready: 0 } });
  expect(await world.model()).toMatchObject({ deployment: { is_ready: false } });
  expect(world.plane.account.proof().endpoints).toMatchObject([{ instances: 0 }]);

  await world.change((row) => ({ state: 'waking', wake: { started_at: world.plane.now() }, transitions: row.transitions }));
  await world.pass();
  expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service', starts: [{ kind: 'creation' }, { kind: 'wake' }] });
  expect(world.starts).toMatchObject([{ instanceType: 'ml.g5.xlarge', start: { kind: 'wake' } }]);

  await world.change({ wanted: 'stopped' });
  expect(await world.run(4 * MINUTE_MS)).toMatchObject({ state: 'stopped', progress: { ready: 0 } });
  expect(counts(world)).toEqual(NOTHING_LEFT);

  await world.change({ wanted: 'running' });
  expect(await world.run(3 * MINUTE_MS)).toMatchObject({ state: 'in_service' });

  await world.change({ wanted: 'deleted' });
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  expect(counts(world)).toEqual(NOTHING_LEFT);
  expect(await world.model()).toBeUndefined();
  expect(await world.store.idOf(world.organization, 'qwen3-8b')).toBeUndefined();
  const { transitions } = await world.read();
  expect(transitions.map(({ state }) => state)).toEqual([
    'pending',
    'creating',
    'in_service',
    'draining',
    'scaled_to_zero',
    'in_service',
    'stopping',
    'stopped',
    'creating',
    'in_service',
    'deleting',
    'deleted',
  ]);
});
