import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { recompute } from '../../../functions/rollup/rollup.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { DAY_MS } from '../../../shared/time/units.ts';
import { bucketOfKey } from '../../../shared/usage/bucket.ts';
import { type GpuEvent, gpuEventId } from '../../../shared/usage/gpu-event.ts';
import { createGpuEventStore, type GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { createRollupStore } from '../../../shared/usage/rollup-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { rollupStores } from '../../support/fixtures/rollups.ts';

const NOON = Date.UTC(2026, 10, 21, 12);

let database: TestDatabase;
let store: GpuEventStore;
beforeAll(async () => {
  database = await startTestDatabase();
  store = createGpuEventStore(database.database, database.tables.Usage as string);
});
afterAll(async () => {
  await database.close();
});

const add = (events: readonly GpuEvent[]): Promise<void> => transact(database.database, store.toAdd(events));

const eventOf = (fields: Partial<GpuEvent> & Pick<GpuEvent, 'deployment_id' | 'org_id'>): GpuEvent => {
  const event = {
    name: 'qwen3-8b',
    generation: 1,
    instance_type: 'ml.g5.xlarge',
    instances: 2,
    phase: 'serving' as const,
    started_at: NOON,
    ended_at: NOON + 900_000,
    seconds: 900,
    cost_nanos: 705_600_000n,
    price_version: 'price_1',
    is_prepaid: true as const,
    ...fields,
  };
  return { ...event, id: gpuEventId(event) };
};

test('lists a deployment’s GPU time by UTC day, oldest first, and exactly as it was metered', async () => {
  const ids = { deployment_id: newId('deployment'), org_id: newId('organization') };
  const events = [0, 1, 2, 3].map((days) => eventOf({ ...ids, started_at: NOON + days * DAY_MS, cost_nanos: 2n ** 60n + BigInt(days) }));
  await add(events.toReversed());
  await add([eventOf({ ...ids, deployment_id: newId('deployment') })]);
  expect(await Array.fromAsync(store.listByDeployment(ids.deployment_id, '2026-11-22', '2026-11-23'))).toEqual(events.slice(1, 3));
});

test('adds nothing if an interval is already metered, so that no second is charged twice', async () => {
  const ids = { deployment_id: newId('deployment'), org_id: newId('organization') };
  await add([eventOf(ids)]);
  const again = [eventOf({ ...ids, ended_at: NOON + 60_000, seconds: 60 }), eventOf({ ...ids, started_at: NOON + 900_000 })];
  await expect(add(again)).rejects.toThrow('is already metered');
  expect(await Array.fromAsync(store.listByDeployment(ids.deployment_id, '2026-11-21', '2026-11-21'))).toEqual([eventOf(ids)]);
  expect(await Array.fromAsync(store.listDays(ids.org_id, '2026-11-21', '2026-11-21'))).toMatchObject([{ instanceSeconds: 1_800n }]);
});

test('sums an organization’s GPU time by day, deployment and instance type', async () => {
  const ids = { deployment_id: newId('deployment'), org_id: newId('organization') };
  const { is_prepaid: _, ...unpaid } = eventOf({ ...ids, phase: 'draining' });
  await add([eventOf(ids), unpaid, eventOf({ ...ids, instance_type: 'ml.g6e.4xlarge' })]);
  await add([eventOf({ ...ids, started_at: NOON + 900_000 }), eventOf({ ...ids, started_at: NOON + DAY_MS })]);
  const of = { deploymentId: ids.deployment_id, name: 'qwen3-8b', instanceType: 'ml.g5.xlarge' };
  const one = { instanceSeconds: 1_800n, costNanos: 705_600_000n, prepaidNanos: 705_600_000n };
  expect(await Array.fromAsync(store.listDays(ids.org_id, '2026-11-21', '2026-11-22'))).toEqual([
    { day: '2026-11-21', ...of, instanceSeconds: 5_400n, costNanos: 2_116_800_000n, prepaidNanos: 1_411_200_000n },
    { day: '2026-11-21', ...of, instanceType: 'ml.g6e.4xlarge', ...one },
    { day: '2026-11-22', ...of, ...one },
  ]);
});

test('is in no total of requests: its partitions are not those of events of requests', async () => {
  const ids = { deployment_id: newId('deployment'), org_id: newId('organization') };
  await add([eventOf(ids)]);
  expect(() => bucketOfKey(`gpu#${ids.deployment_id}#2026-11-21`)).toThrow('is not the partition of an event');
  const rollups = createRollupStore(database.database, database.tables.Usage as string);
  for (const keyId of [ids.deployment_id, ids.org_id, `gpu#${ids.deployment_id}`]) {
    await recompute(rollupStores(database.database, database.tables.Usage as string), [{ shard: keyId, startMs: NOON }]);
    expect(await Array.fromAsync(rollups.listDays(keyId, '2026-11-21', '2026-11-21'))).toEqual([]);
  }
});
