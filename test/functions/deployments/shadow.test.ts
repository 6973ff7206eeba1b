import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { transact } from '../../../shared/database/transaction.ts';
import type { Deployment } from '../../../shared/deployments/deployment.ts';
import { awsNameOf } from '../../../shared/deployments/names.ts';
import { addShadow } from '../../../shared/deployments/shadow.ts';
import { createShadowStore } from '../../../shared/deployments/shadow-store.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { createWorld, INSTALLATION, type World } from './world.ts';

const SETTINGS = { percent: 10, max_requests: 2, max_tokens: 1_000, max_seconds: 3_600 };

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

const storeOf = () => createShadowStore(database.database, database.tables.Deployments as string);

const begin = async (fields: Partial<Deployment> = {}): Promise<World> => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: null, ...fields });
  await world.pass();
  await world.run(2 * MINUTE_MS);
  await transact(database.database, [storeOf().toCreate(world.id, 1)]);
  await world.change((row) => {
    const last = row.generations.at(-1) as Deployment['generations'][number];
    const next = { ...last, number: 2, status: 'creating' as const, created_at: world.plane.now() };
    const { shadows } = addShadow(row, SETTINGS, 2, world.plane.now());
    return { generations: [...row.generations, next], traffic_percent: 0, ...(shadows && { shadows }) };
  });
  await world.pass();
  return world;
};
const begun = async (fields?: Partial<Deployment>): Promise<World> => {
  const world = await begin(fields);
  await world.run(2 * MINUTE_MS);
  return world;
};
const shadowIn = async (world: World) => (await world.model())?.deployment?.shadow;
const endOf = async (world: World) => (await world.read()).shadows?.[0]?.end_reason;

describe('a comparison', () => {
  test('begins once both generations serve, and all requests go on to the old one', async () => {
    const world = await begin();
    expect(await shadowIn(world)).toBeUndefined();
    const [old, next] = [1, 2].map((number) => awsNameOf(INSTALLATION.name, world.id, number));
    const { shadows = [], state } = await world.run(2 * MINUTE_MS);
    expect(state).toBe('in_service');
    expect(await world.model()).toMatchObject({ targets: [{ endpoint: old, weight: 100 }] });
    expect(await shadowIn(world)).toEqual({
      ...{ number: 1, percent: 10, max_requests: 2, max_tokens: 1_000, dialect: 'vllm' },
      target: { endpoint: next, component: next, container_model: 'qwen3-8b', weight: 1 },
      ends_at: (shadows[0]?.started_at ?? 0) + 3_600_000,
    });
  });

  test.each<[what: string, reason: string, act: (world: World) => Promise<unknown>]>([
    ['its time is over', 'time_over', (world) => world.run(HOUR_MS)],
    ['the new generation gets traffic', 'traffic_shifted', (world) => world.change({ traffic_percent: 1 })],
    ['the new generation replaces the old one', 'traffic_shifted', (world) => world.change({ traffic_percent: 100 })],
    ['the deployment is stopped', 'stopped', (world) => world.change({ wanted: 'stopped', state: 'stopping' })],
    [
      'the rollout is rolled back',
      'generation_ended',
      (world) =>
        world.change(({ generations: [first, next] }) => ({
          generations: [first as never, { ...(next as Deployment['generations'][number]), status: 'retired' }],
          traffic_percent: 100,
        })),
    ],
    [
      'its requests are used up',
      'budget_used',
      async ({ id }) => {
        const budget = { ...SETTINGS, number: 1 };
        const requestOf = (request: string) => ({ id: request, tokens: 1, nowMs: 2, expiresAtMs: 1 });
        for (const request of ['a', 'b']) await storeOf().reserve(id, budget, requestOf(request));
      },
    ],
    [
      'a request does not fit its tokens',
      'budget_used',
      ({ id }) => storeOf().reserve(id, { ...SETTINGS, number: 1 }, { id: 'a', tokens: 1_001, nowMs: 2, expiresAtMs: 1 }),
    ],
  ])('ends when %s', async (_, reason, act) => {
    const world = await begun();
    expect(await endOf(world)).toBeUndefined();
    await act(world);
    await world.pass();
    expect(await endOf(world)).toBe(reason);
    expect(await shadowIn(world)).toBeUndefined();
  });

  test('ends when the new generation fails', async () => {
    const world = await begin();
    world.plane.account.configure({ faults: [{ kind: 'image_pull' }] });
    await world.run(5 * MINUTE_MS);
    expect(await endOf(world)).toBe('generation_ended');
  });

  test('sends nothing while the deployment is asleep, keeps nothing awake, and goes on after a wake', async () => {
    const world = await begun({ scale_to_zero_after_seconds: 300 });
    await world.run(10 * MINUTE_MS);
    expect(['draining', 'scaled_to_zero']).toContain((await world.read()).state);
    expect(await shadowIn(world)).toBeUndefined();
    expect(await endOf(world)).toBeUndefined();
    const row = await world.read();
    expect(await world.store.wake(row, world.plane.now())).toBeDefined();
    await world.run(3 * MINUTE_MS);
    expect(await shadowIn(world)).toMatchObject({ number: 1 });
  });

  test('is not in the row of the shared model that an admin made of the deployment', async () => {
    const world = await begun();
    const own = await world.model();
    if (!own?.deployment) throw new Error('There is no model.');
    const { deployment, targets, ...rest } = own;
    const shared = { ...rest, name: 'shared', targets, deployment: { id: deployment.id, is_ready: false } };
    await database.models.put(SERVERLESS_POOL, shared);
    await world.change({ published_as: 'shared' });
    await world.pass();
    expect((await database.models.get(SERVERLESS_POOL, 'shared'))?.deployment).toEqual({ id: deployment.id, is_ready: true });
    expect(await shadowIn(world)).toBeDefined();
  });

  test('is removed with its deployment', async () => {
    const world = await begun();
    await world.change({ wanted: 'deleted', state: 'deleting' });
    await world.run(5 * MINUTE_MS);
    expect((await world.read()).state).toBe('deleted');
    expect(await storeOf().read(world.id, 1)).toBeUndefined();
  });
});
