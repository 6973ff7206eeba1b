import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rebuildGpuDays } from '../../../../../infra/tools/admin/rebuild/rebuild-gpu-days.ts';
import { transact } from '../../../../../shared/database/transaction.ts';
import { type GpuEvent, gpuEventId } from '../../../../../shared/usage/gpu-event.ts';
import { createGpuEventStore, type GpuDay, type GpuEventStore } from '../../../../../shared/usage/gpu-event-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../../support/emulators/database.ts';
import { newId } from '../../../../support/fixtures/new-id.ts';

const DAY = '2026-11-21';
const NOON = Date.parse(`${DAY}T12:00Z`);
let database: TestDatabase;
let store: GpuEventStore;
beforeAll(async () => {
  database = await startTestDatabase();
  store = createGpuEventStore(database.database, database.tables.Usage as string);
});
afterAll(async () => {
  await database.close();
});

// Both deployments have GPU time on the day, one of them also on the next day.
const setUp = async () => {
  const organization = newId('organization');
  const deployments = [newId('deployment'), newId('deployment')].map((id) => ({ id, organization }));
  const eventOf = (deployment_id: string, started_at: number): GpuEvent => {
    const facts = { deployment_id, generation: 1, instance_type: 'ml.g5.xlarge', phase: 'serving' as const, started_at };
    const paid = { seconds: 900, cost_nanos: 2n ** 60n, price_version: 'price_1', is_prepaid: true as const };
    return { id: gpuEventId(facts), org_id: organization, name: 'qwen', instances: 2, ended_at: started_at + 900_000, ...facts, ...paid };
  };
  const add = (deployment: string, startedAt: number) => transact(database.database, store.toAdd([eventOf(deployment, startedAt)]));
  for (const { id } of deployments) await add(id, NOON);
  await add(deployments[0]?.id as string, NOON + 900_000);
  await add(deployments[0]?.id as string, NOON + 86_400_000);
  const days = () => Array.fromAsync(store.listDays(organization, '2026-11-01', '2026-11-30'));
  return { organization, deployments, add, days, run: (of = deployments, gpuEvents = store) => rebuildGpuDays(gpuEvents, DAY, of) };
};

const none = { rows: 0, instance_seconds: 0n, cost_nanos: 0n };

describe('rebuild of GPU time', () => {
  test('finds nothing to do if the sums equal the events', async () => {
    const { days, run } = await setUp();
    const before = await days();
    expect(before).toHaveLength(3);
    expect(await run()).toEqual(none);
    expect(await days()).toEqual(before);
  });

  test('reports and corrects wrong sums, makes missing ones again, and removes those without events', async () => {
    const { organization, days, run } = await setUp();
    const before = await days();
    const [wrong, missing] = before.filter(({ day }) => day === DAY) as [GpuDay, GpuDay];
    await store.replaceDay(organization, wrong, { ...wrong, costNanos: wrong.costNanos + 7n });
    await store.replaceDay(organization, missing, undefined);
    await store.replaceDay(organization, undefined, { ...wrong, instanceType: 'ml.p5.48xlarge', instanceSeconds: 5n, costNanos: 11n });
    expect(await run()).toEqual({
      rows: 3,
      instance_seconds: missing.instanceSeconds + 5n,
      cost_nanos: 7n + missing.costNanos + 11n,
    });
    expect(await days()).toEqual(before);
    expect(await run()).toEqual(none);
  });

  test('does not replace sums to which GPU time was added in the meantime', async () => {
    const { organization, deployments, add, days, run } = await setUp();
    const [id, other] = deployments.map((deployment) => deployment.id) as [string, string];
    const wrong = (await days()).find(({ day, deploymentId }) => day === DAY && deploymentId === id) as GpuDay;
    await store.replaceDay(organization, wrong, { ...wrong, costNanos: 0n });
    let isAdded = false;
    const meanwhile: GpuEventStore = {
      ...store,
      listByDeployment: async function* (...of) {
        yield* store.listByDeployment(...of);
        if (isAdded) return;
        isAdded = true;
        await add(id, NOON + 1_800_000);
        await add(other, NOON + 1_800_000);
      },
    };
    await run(deployments, meanwhile);
    const secondsOf = async () => (await days()).filter(({ day }) => day === DAY).map(({ instanceSeconds }) => instanceSeconds);
    expect((await secondsOf()).toSorted()).toEqual([3_600n, 5_400n]);
    // The next attempt finds them as they are.
    expect(await run()).toMatchObject({ rows: 1, instance_seconds: 0n, cost_nanos: 2n ** 61n });
    expect(await run()).toEqual(none);
  });
});
