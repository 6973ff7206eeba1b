import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { OrganizationLimits } from '../../../../functions/control/limits/limits.ts';
import { createOrganization } from '../../../../functions/control/organizations/create-organization.ts';
import { limitOrganization, setSuspended } from '../../../../functions/control/organizations/update-organization.ts';
import type { Admission } from '../../../../functions/inference/admission/admit.ts';
import { growOrganization } from '../../../../functions/inference/admission/grow-organization.ts';
import { settleQueued } from '../../../../functions/metering/settle-queued.ts';
import { sweep } from '../../../../functions/metering/sweep.ts';
import { type LimiterItem, shardsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { nextToSplit, shardId } from '../../../../shared/admission/item/shards.ts';
import { epochOf } from '../../../../shared/admission/item/sweep-epoch.ts';
import { planSplit } from '../../../../shared/admission/plans/split-shard.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import type { QueuedSettlement } from '../../../../shared/usage/settlement-queue.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { openLimiters } from '../../../support/emulators/limiters.ts';
import { Crash } from '../../../support/faults/unreliable-database.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { attempt, forgetfulCache, isAdmitted, makeCaller, makeKey } from '../../../support/fixtures/callers.ts';
import { actorOf } from '../../../support/fixtures/managed-models.ts';
import { sweepNow } from '../../../support/fixtures/sweep-now.ts';

const START = Date.UTC(2026, 10, 21, 12);
const MAX_IN_FLIGHT_MS = 11 * MINUTE_MS;
const { origin } = actorOf('admin', null, START);
const LIMITS = { requests_per_minute: 600_000, concurrency: 5_000, month_budget: '900' };

let database: TestDatabase;
// With the permissions of the functions.
let control: Database;
let metering: Database;
beforeAll(async () => {
  database = await startTestDatabase();
  control = await database.as('control');
  metering = await database.as('metering');
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const deps = (over: Database = control) => accountStores(database, over);

const setUp = async (shards: number) => {
  const { id } = await createOrganization(deps(), origin, { name: 'Busy' });
  const key = await makeKey(database.limiters, { org: id, requests_per_minute: 1_000_000 });
  await limitOrganization(deps(), origin, id, OrganizationLimits.parse(LIMITS));
  await database.limiters.markOrganizationLimited(key.keyId);
  await split(id, shards);
  return { id, key };
};

const split = async (id: string, shards: number): Promise<void> => {
  for (let before = 1; before < shards; ) {
    before = shardsOf((await database.limiters.get(id)) as LimiterItem);
    const parents = await database.limiters.getMany(nextToSplit(before, Math.min(40, shards - before)).map((shard) => shardId(id, shard)));
    const splits = parents.flatMap((parent, i) => planSplit(parent, shardId(id, before + i), START) ?? []);
    if (splits.length > 0 && (await database.limiters.split(id, splits, before))) before += splits.length;
  }
};

const crashingAt = (number: number): Database => {
  let transactions = 0;
  return {
    ...database.database,
    transactWrite: async (input) => {
      if (++transactions > number) throw new Crash();
      await database.database.transactWrite(input);
    },
  };
};

const sweepAt = (nowMs: number) =>
  sweepNow({
    limiters: openLimiters(metering, database.tables.Keys as string),
    usage: createUsageStore(metering, database.tables.Usage as string),
    maxInFlightMs: MAX_IN_FLIGHT_MS,
    now: () => nowMs,
    hasTime: () => true,
    database: metering,
  });

test.each([6, 130])('an organization with %i shards is suspended and resumed in all of them', async (shards) => {
  const { id, key } = await setUp(shards);
  const keys = makeCaller(database.limiters, () => START);
  for (let i = 0; i < 10; i++) expect(isAdmitted(await attempt(keys, key))).toBe(true);
  await setSuspended(deps(), origin, id, { isSuspended: true, reason: 'r' });
  for (const item of await readAllShards(database.limiters, id)) expect(item).toMatchObject({ status: 'suspended' });
  for (let i = 0; i < 5; i++) expect(await attempt(keys, key)).toMatchObject({ status: 403 });
  await setSuspended(deps(), origin, id, { isSuspended: false, reason: 'r' });
  const fresh = makeCaller(database.limiters, () => START);
  for (let i = 0; i < 10; i++) expect(isAdmitted(await attempt(fresh, key))).toBe(true);
  expect(await database.limiters.whole(id)).toMatchObject({ lim_r: 600_000, lim_c: 5_000 });
});

test('an organization that gets more shards while it is suspended or limited keeps no shard as it was', async () => {
  const { id } = await setUp(2);
  const environments = Array.from({ length: 4 }, () => makeCaller(database.limiters, () => START));
  for (const [i, change] of [
    () => setSuspended(deps(), origin, id, { isSuspended: true, reason: 'r' }),
    () => setSuspended(deps(), origin, id, { isSuspended: false, reason: 'r' }),
    () => limitOrganization(deps(), origin, id, OrganizationLimits.parse({ ...LIMITS, concurrency: 4_000 })),
  ].entries()) {
    const growing = async (): Promise<void> => {
      for (const keys of environments) await growOrganization(keys, id, 1);
    };
    await Promise.all([growing(), change(), growing()]);
    const items = await readAllShards(database.limiters, id);
    expect(new Set(items.map(({ status }) => status))).toEqual(new Set([i === 0 ? 'suspended' : 'active']));
    expect(items.reduce((sum, { lim_c = 0 }) => sum + lim_c, 0)).toBe(i === 2 ? 4_000 : 5_000);
  }
  expect((await readAllShards(database.limiters, id)).length).toBeGreaterThan(3);
});

test.each([1, 2, 3])('the sweep completes a change of many shards that crashed after %i transactions', async (at) => {
  const { id } = await setUp(130);
  const limits = OrganizationLimits.parse({ ...LIMITS, concurrency: 3_000, month_budget: '1000' });
  await expect(limitOrganization(deps(crashingAt(at)), origin, id, limits)).rejects.toThrow(Crash);
  const keys = makeCaller(database.limiters, () => START);
  for (let i = 0; i < 2; i++) await growOrganization(keys, id, 1);
  expect(await readAllShards(database.limiters, id)).toHaveLength(130);
  await database.limiters.markSwept(epochOf(START) - 1);
  await sweepAt(START + MINUTE_MS);
  const whole = await database.limiters.whole(id);
  expect(whole?.pending).toBeUndefined();
  expect(whole).toMatchObject({ lim_c: 3_000, lim_r: 600_000, bud_m: 1_000_000_000_000 });
});

test('the sweep finds crashed requests in any shard, and reads an organization’s shards once', async () => {
  const { id, key } = await setUp(6);
  // Later than what the other tests left in flight.
  const now = START + 60 * MINUTE_MS;
  await database.limiters.markSwept(epochOf(now) - 1);
  const keys = { ...makeCaller(database.limiters, () => now), cache: forgetfulCache() };
  const admitted: Admission[] = [];
  for (let i = 0; i < 12; i++) admitted.push((await attempt(keys, key, 1, undefined, 1_000n)) as Admission);
  expect(new Set(admitted.map(({ reservations }) => reservations[1]?.limiterId)).size).toBeGreaterThan(2);
  // One request was reserved by its key alone before its function crashed.
  const [half] = admitted as [Admission];
  const { limiterId, entry } = half.reservations[1] as Admission['reservations'][number];
  await database.limiters.end({ limiterId, requestId: half.requestId, entry, used: 'undone', nowMs: now });
  let reads = 0;
  const counting: typeof database.limiters = {
    ...database.limiters,
    getMany: (ids) => {
      reads++;
      return database.limiters.getMany(ids);
    },
  };
  const queued: QueuedSettlement[] = [];
  const later = { limiters: counting, usage: database.usage, now: () => now + MAX_IN_FLIGHT_MS + 1 };
  const report = await sweep({
    ...later,
    settlements: { send: async (settlement) => void queued.push(settlement) },
    maxInFlightMs: MAX_IN_FLIGHT_MS,
    hasTime: () => true,
  });
  expect(report).toMatchObject({ orphaned: 11, undone: 1, complete: true });
  expect(reads).toBe(1);
  for (const settlement of queued) await settleQueued({ ...later, database: database.database }, settlement);
  expect(await database.limiters.whole(id)).toMatchObject({ fl: {}, spent: 0 });
  expect((await database.limiters.get(key.keyId))?.fl).toEqual({});
});
