import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { inState } from '../../../shared/deployments/deployment.ts';
import { HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { createWorld, type World } from './world.ts';

let database: TestDatabase;
let written: jest.SpiedFunction<typeof process.stdout.write>;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  written.mockClear();
});

// In service, but its copies can’t be registered, because the caller lacks a permission.
const unregistered = async (fields: Parameters<typeof createWorld>[1] = {}) => {
  const world = await createWorld(database, { scale_to_zero_after_seconds: null, ...fields });
  const { register } = world.dependencies.aws.scaling;
  /** When it was called. */
  const calls: number[] = [];
  const scaling = {
    ...world.dependencies.aws.scaling,
    register: async (): Promise<void> => {
      calls.push(world.plane.now());
      const message = 'User is missing the following permissions: sagemaker:UpdateInferenceComponentRuntimeConfig';
      throw Object.assign(new Error(message), { name: 'ValidationException' });
    },
  };
  world.dependencies.aws.scaling = scaling;
  await world.pass();
  for (let passes = 0; calls.length === 0; passes++) {
    if (passes === 20) throw new Error('It was never registered.');
    await world.run(15_000);
  }
  return { world, calls, permit: () => Object.assign(scaling, { register }) };
};

const versionOf = async (world: World): Promise<number> => (await world.read()).version;

describe('a call that AWS rejects and that changes nothing', () => {
  test('is repeated after growing waits of at most fifteen minutes, and its reason is shown all the time', async () => {
    const { world, calls } = await unregistered();
    expect(await world.read()).toMatchObject({ state: 'in_service', reason: { code: 'access_denied' } });
    for (let minute = 0; minute < 120; minute++)
      expect(await world.run(MINUTE_MS)).toMatchObject({ state: 'in_service', reason: { code: 'access_denied' } });
    const waits = calls.slice(1).map((at, i) => at - (calls[i] as number));
    expect(waits.length).toBeGreaterThan(10);
    for (const [i, wait] of waits.entries()) {
      const least = Math.min(15 * MINUTE_MS, 15_000 * 2 ** i);
      expect(wait).toBeGreaterThanOrEqual(least);
      expect(wait).toBeLessThan(least + MINUTE_MS);
    }
  });

  test('costs no write, no call that changes anything and no message while it waits', async () => {
    const { world, calls } = await unregistered();
    await world.run(2 * HOUR_MS, 5 * MINUTE_MS);
    const [version, made, messages] = [await versionOf(world), world.plane.calls.length, world.messages.size];
    const rejected = calls.length;
    await world.pass();
    await world.pass();
    expect([await versionOf(world), calls.length, world.messages.size]).toEqual([version, rejected, messages]);
    const operations = world.plane.calls.slice(made).map(({ operation }) => operation);
    expect(operations.every((operation) => operation.startsWith('Describe'))).toBe(true);
    await world.run(HOUR_MS, 5 * MINUTE_MS);
    expect((await versionOf(world)) - version).toBeLessThanOrEqual(5);
  });

  test('is repeated at once after a change by the owner, with short waits again', async () => {
    const { world, calls } = await unregistered();
    await world.run(2 * HOUR_MS, 5 * MINUTE_MS);
    const before = calls.length;
    await world.change({ tags: { team: 'search' } });
    await world.pass();
    expect(calls.length).toBe(before + 1);
    await world.run(2 * MINUTE_MS);
    expect(calls.length).toBeGreaterThanOrEqual(before + 2);
  });

  test('is forgotten once AWS accepts it, and what follows it is done', async () => {
    const { world, permit } = await unregistered();
    await world.run(HOUR_MS, 5 * MINUTE_MS);
    permit();
    const row = await world.run(16 * MINUTE_MS);
    expect(row.reason).toBeUndefined();
    expect(row.rejected).toBeUndefined();
    expect(world.plane.calls.map(({ operation }) => operation)).toContain('PutScalingPolicy');
  });

  test('delays no other call of the deployment: it still sleeps, wakes and is deleted', async () => {
    const { world } = await unregistered({ scale_to_zero_after_seconds: 300 });
    expect(await world.run(20 * MINUTE_MS)).toMatchObject({ state: 'scaled_to_zero' });
    expect((await world.read()).reason).toBeUndefined();
    await world.change((row) => ({ ...inState(row, 'waking', world.plane.now()), wake: { started_at: world.plane.now() } }));
    await world.pass();
    expect(await world.run(2 * MINUTE_MS)).toMatchObject({ state: 'in_service', reason: { code: 'access_denied' } });
    await world.change({ wanted: 'deleted' });
    expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state: 'deleted' });
  });

  test('is logged with the code of its reason, and as one that is repeated', async () => {
    await unregistered();
    const lines = written.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
    expect(lines.filter(({ message }) => message === 'aws_call_rejected')).toMatchObject([
      { call: 'register_scaling', reason: 'access_denied', is_repeated: true },
    ]);
  });
});
