import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { createMeterPass, repeatForCredit } from '../../../../functions/deployments/gpu-time/gpu-time.ts';
import { availableNanosOf } from '../../../../shared/admission/item/limiter-item.ts';
import type { Deployment } from '../../../../shared/deployments/deployment.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { createWorld } from '../world.ts';

// An instance costs $1.20 an hour.
const MINUTE_NANOS = 20_000_000n;
const STEP_NANOS = 15n * MINUTE_NANOS;

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

// The organization’s credit besides the held one: less than a second costs.
const LEFT = 1n;

// A prepaid organization whose whole credit is held for the start, as after a creation.
const begun = async (fields: Partial<Deployment>, held: bigint, times: object = {}) => {
  const meter = { until: 0, running: [], held_nanos: held };
  const world = await createWorld(database, { ...fields, meter }, { settings: { times } });
  await limitOrganization(database.limiters, world.organization, { isPrepaid: true });
  Object.assign(world.dependencies, {
    repeatForCredit,
    meterPass: createMeterPass({
      database: database.database,
      usageTable: database.tables.Usage as string,
      keysTable: database.tables.Keys as string,
      pricesOf: async () => [{ version: 'price_1', effective_at: 0, hour_nanos: 1_200_000_000 }],
    }),
  });
  await database.limiters.addGrant(world.organization, 1, LEFT);
  const money = async () => {
    const item = await database.limiters.get(world.organization);
    return { held: (await world.read()).meter?.held_nanos, available: item && availableNanosOf(item) };
  };
  return { world, money };
};

test('keeps the credit for a start until all minimum copies run, and then pays them from it', async () => {
  const { world, money } = await begun({ copies: { min: 2, max: 2 }, scale_to_zero_after_seconds: null }, 2n * STEP_NANOS, {
    instance_ms: 8 * MINUTE_MS,
  });
  await world.pass();
  expect(await world.run(7 * MINUTE_MS)).toMatchObject({ state: 'creating' });
  expect(await money()).toEqual({ held: 2n * STEP_NANOS, available: LEFT });
  expect(await world.run(10 * MINUTE_MS)).toMatchObject({ state: 'in_service', progress: { ready: 2 } });
  const { held, available } = await money();
  expect(available).toBeLessThanOrEqual(LEFT);
  expect(held).toBeGreaterThan(0n);
});

test.each<[string, Partial<Deployment>]>([
  ['stopped', { wanted: 'stopped' }],
  ['deleted', { wanted: 'deleted' }],
])('a deployment that is %s before an instance runs returns the credit for its start', async (state, change) => {
  const { world, money } = await begun({}, STEP_NANOS);
  expect(await money()).toEqual({ held: STEP_NANOS, available: LEFT });
  await world.change(change);
  await world.pass();
  expect(await world.run(5 * MINUTE_MS)).toMatchObject({ state });
  expect(await money()).toEqual({ held: 0n, available: STEP_NANOS + LEFT });
});

test('returns the credit for a start if the deployment fails without an instance', async () => {
  const { world, money } = await begun({}, STEP_NANOS);
  world.plane.account.configure({ quotas: { 'ml.g5.xlarge': 0 } });
  await world.pass();
  expect(await world.run(10 * MINUTE_MS)).toMatchObject({ state: 'failed' });
  expect(await money()).toEqual({ held: 0n, available: STEP_NANOS + LEFT });
});
