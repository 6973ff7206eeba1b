import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, type Keys, release } from '../../../../functions/inference/admission/admit.ts';
import { growIfBusy, growOrganization, inFlightBeforeSplit } from '../../../../functions/inference/admission/grow-organization.ts';
import { type LimiterItem, newLimiterItem, shardsOf } from '../../../../shared/admission/item/limiter-item.ts';
import type { Limits } from '../../../../shared/admission/item/limits.ts';
import type { PresentedKey } from '../../../../shared/admission/item/secret.ts';
import { growingShardOf, nextToSplit, shardId } from '../../../../shared/admission/item/shards.ts';
import { slotOf } from '../../../../shared/admission/item/sliding-window.ts';
import { planSplit } from '../../../../shared/admission/plans/split-shard.ts';
import { readAllShards } from '../../../../shared/admission/stores/reservation.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, forgetfulCache, isAdmitted, makeCaller, makeKey, usedTokens } from '../../../support/fixtures/callers.ts';
import { limitOrganization } from '../../../support/fixtures/limit-organization.ts';
import { newId } from '../../../support/fixtures/new-id.ts';
import { sized } from '../../../support/sized.ts';

const START = 29_000_000 * MINUTE_MS;
const DOLLAR = 1_000_000_000n;
// They all want the same few items at the same time.
const CROWD = sized(120, 240);
// There is no room for them.
const LATE = sized(20, 60);

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

const setUp = async (limits: Partial<Limits>, creditNanos?: bigint): Promise<{ organization: string; key: PresentedKey }> => {
  const organization = newId('organization');
  const key = await makeKey(database.limiters, { org: organization, requests_per_minute: 1_000_000 });
  await limitOrganization(database.limiters, organization, { ...limits, ...(creditNanos !== undefined && { isPrepaid: true }) });
  if (creditNanos !== undefined) await database.limiters.addGrant(organization, 1, creditNanos);
  return { organization, key };
};

const countShards = async (organization: string): Promise<number> => shardsOf((await database.limiters.get(organization)) as LimiterItem);

const MAX_SPLITS = 40;

const splitInto = async (organization: string, shards: number, nowMs: number): Promise<void> => {
  for (let before = await countShards(organization); before < shards; ) {
    const ids = nextToSplit(before, Math.min(MAX_SPLITS, shards - before)).map((shard) => shardId(organization, shard));
    const parents = await database.limiters.getMany(ids);
    const splits = parents.flatMap((parent, i) => planSplit(parent, shardId(organization, before + i), nowMs) ?? []);
    expect(splits).toHaveLength(ids.length);
    expect(await database.limiters.split(organization, splits, before)).toBe(true);
    before += splits.length;
  }
};

const inFlightOf = async (organization: string): Promise<number> =>
  Object.keys((await database.limiters.whole(organization))?.fl ?? {}).length;

describe('linear hashing', () => {
  test('gives a shard that was split half as many requests as one that was not', () => {
    const ids = Array.from({ length: 12_000 }, (_, i) => newRequestId(START + i));
    for (const shards of [1, 2, 3, 6, 8]) {
      const counts = Array<number>(shards).fill(0);
      for (const id of ids) counts[growingShardOf(id, shards)] = (counts[growingShardOf(id, shards)] ?? 0) + 1;
      const generation = 2 ** Math.floor(Math.log2(shards));
      for (const [shard, count] of counts.entries()) {
        const isSplit = shards > generation && (shard < shards - generation || shard >= generation);
        expect(Math.abs(count / ids.length - 1 / (isSplit ? 2 * generation : generation))).toBeLessThan(0.03);
      }
    }
    expect([1, 2, 3, 4, 6].map((shards) => nextToSplit(shards, 10))).toEqual([[0], [0, 1], [1], [0, 1, 2, 3], [2, 3]]);
  });
});

describe('growth', () => {
  test('adds shards under concurrent load, rejects no request, and keeps every item small', async () => {
    const { organization, key } = await setUp(
      { concurrency: 1_000, requestsPerMinute: 60_000, budgets: { month: 1_000n * DOLLAR } },
      1_000n * DOLLAR,
    );
    const environments = Array.from({ length: 6 }, () => makeCaller(database.limiters, () => START));
    const results = await Promise.all(
      Array.from({ length: CROWD }, (_, i) => attempt(environments[i % 6] as Keys, key, 1, undefined, DOLLAR / 100n)),
    );
    const admitted = results.filter(isAdmitted);
    expect(admitted).toHaveLength(CROWD);
    await Promise.all(admitted.map(({ growth }) => growth));
    const shards = await readAllShards(database.limiters, organization);
    expect(shards.length).toBeGreaterThan(8);
    // A request that finds crowded shards waits for more shards, but not forever.
    expect(Math.max(...shards.map(({ fl }) => Object.keys(fl).length))).toBeLessThanOrEqual(40);
    expect(await database.limiters.whole(organization)).toMatchObject({ lim_c: 1_000, lim_r: 60_000 });
    await Promise.all(admitted.map((admission) => release(environments[0] as Keys, admission, { tokens: 1, costNanos: 1_000n })));
    expect(await inFlightOf(organization)).toBe(0);
    expect(BigInt((await database.limiters.whole(organization))?.avail ?? 0)).toBe(1_000n * DOLLAR - BigInt(CROWD) * 1_000n);
  });

  test('happens once if many environments want it at the same time, and divides everything exactly', async () => {
    const { organization, key } = await setUp(
      { concurrency: 100, requestsPerMinute: 6_001, tokensPerMinute: 1_000_003 },
      101n * DOLLAR + 7n,
    );
    const now = START + 30_000;
    for (let i = 0; i < 9; i++)
      await attempt(
        makeCaller(database.limiters, () => now),
        key,
        17,
        undefined,
        DOLLAR,
      );
    const before = await database.limiters.whole(organization);
    const environments = Array.from({ length: 10 }, () => makeCaller(database.limiters, () => now));
    for (const keys of environments) keys.cache.set(organization, before, now);
    await Promise.all(environments.map((keys) => growOrganization(keys, organization, 1)));
    expect(await countShards(organization)).toBe(2);
    const after = await database.limiters.whole(organization);
    const slot = slotOf(START);
    for (const name of ['lim_r', 'lim_t', 'lim_c', 'avail', `r${slot}`, `t${slot}`] as const) expect(after?.[name]).toBe(before?.[name]);
    expect(Object.keys(after?.fl ?? {})).toHaveLength(Object.keys(before?.fl ?? {}).length);
  });

  test('adds a shard for a request that needs one, although a concurrent growth finds enough of them', async () => {
    const { organization } = await setUp({ concurrency: 100 });
    const keys = makeCaller(database.limiters, () => START);
    expect(await Promise.all([growOrganization(keys, organization), growOrganization(keys, organization, 1)])).toEqual([false, true]);
    expect(await countShards(organization)).toBe(2);
  });

  test('is looked for by an environment that needs none the more rarely, the more shards there are', async () => {
    const { organization } = await setUp({ concurrency: 1_000 });
    const inFlight = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [newRequestId(START + i), {}])) as LimiterItem['fl'];
    for (const [shards, surveys] of [
      [2, 8],
      [16, 1],
    ] as const) {
      await splitInto(organization, shards, START);
      let nowMs = START;
      const caller = makeCaller(database.limiters, () => nowMs);
      const own = (await database.limiters.get(organization)) as LimiterItem;
      caller.cache.set(organization, own, START);
      let found = 0;
      for (; nowMs < START + 4_000; nowMs += 100) {
        const growth = growIfBusy(caller, organization, { ...own, fl: inFlight });
        if (growth) found++;
        await growth;
      }
      expect(found).toBe(surveys);
      expect(await countShards(organization)).toBe(shards);
    }
  });

  test('never waits for a request to end: a shard that is full before its split can be split', () => {
    for (let concurrency = 8; concurrency <= 100; concurrency++) {
      const parent = newLimiterItem('org_1', 'org_1', { set: { lim_c: concurrency } });
      const inFlight = inFlightBeforeSplit(parent, START);
      expect(inFlight).toBeGreaterThanOrEqual(4);
      for (let request = 0; request < inFlight; request++) (parent.fl as Record<string, unknown>)[`req_${request}`] = [START, null];
      expect(planSplit(parent, 'org_1#1', START)?.child.lim_c).toBeGreaterThanOrEqual(2);
    }
  });

  test('admits no request too many at the end of a minute, however often shards are split meanwhile', async () => {
    const { organization, key } = await setUp({ requestsPerMinute: 50, concurrency: 1_000 });
    let now = START + 59_000;
    const environments = Array.from({ length: 5 }, () => ({ ...makeCaller(database.limiters, () => now), cache: forgetfulCache() }));
    const send = async (count: number): Promise<number> =>
      (await Promise.all(Array.from({ length: count }, (_, i) => attempt(environments[i % 5] as Keys, key)))).filter(isAdmitted).length;
    expect(await send(31)).toBe(31);
    await splitInto(organization, 3, now);
    expect(31 + (await send(60))).toBe(50);
    let more = 0;
    for (const [elapsed, shards, room, count] of [
      [0, 4, 0, LATE],
      [30_000, 5, 0, LATE],
      [59_999, 6, 0, LATE],
      [60_000, 7, 50, 60],
    ] as const) {
      now = START + MINUTE_MS + elapsed;
      await splitInto(organization, shards, now);
      more += await send(count);
      // Each shard rounds its part.
      expect(more).toBeLessThanOrEqual(room);
      expect(more).toBeGreaterThanOrEqual(room - shards);
    }
  });

  test('stops while the parts would be too small, and items then hold as many requests as the limit allows', async () => {
    const { organization, key } = await setUp({ concurrency: 30, requestsPerMinute: 100 });
    const keys = makeCaller(database.limiters, () => START);
    const results = await Promise.all(Array.from({ length: 40 }, () => attempt(keys, key)));
    expect(results.filter(isAdmitted)).toHaveLength(30);
    expect(await countShards(organization)).toBe(1);
  });
});

describe('money', () => {
  test('moves between shards, and is refused only when all of them together cannot pay', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 7 }),
        fc.array(fc.bigInt({ min: 1n, max: 400n }), { minLength: 20, maxLength: 40 }),
        async (shards, holds) => {
          const credit = 2_000n;
          const { organization, key } = await setUp({ budgets: { month: 1_700n } }, credit);
          const environments = [0, 1, 2].map(() => ({ ...makeCaller(database.limiters, () => START), cache: forgetfulCache() }));
          let left = 1_700n;
          for (const [i, hold] of holds.entries()) {
            if (i === 3) await splitInto(organization, shards, START);
            const result = await attempt(environments[i % 3] as Keys, key, 1, undefined, hold);
            expect(isAdmitted(result)).toBe(hold <= left);
            if (isAdmitted(result)) left -= hold;
            else expect(result).toMatchObject({ status: 429, type: 'insufficient_quota' });
          }
          const whole = await database.limiters.whole(organization);
          expect(BigInt(whole?.avail ?? 0)).toBe(credit - (1_700n - left));
          for (const item of await readAllShards(database.limiters, organization))
            expect(BigInt(item.avail ?? 0)).toBeGreaterThanOrEqual(0n);
        },
      ),
      { numRuns: sized(6, 15), seed: 20_261_122 },
    );
  });

  test('is never spent twice by concurrent requests of eight environments on shards that run short', async () => {
    const { organization, key } = await setUp({}, 100n);
    await splitInto(organization, 6, START);
    const environments = Array.from({ length: 8 }, () => makeCaller(database.limiters, () => START));
    const results = await Promise.all(Array.from({ length: 60 }, (_, i) => attempt(environments[i % 8] as Keys, key, 1, undefined, 10n)));
    const admitted = results.filter(isAdmitted);
    expect(admitted.length).toBeLessThanOrEqual(10);
    const whole = await database.limiters.whole(organization);
    expect(BigInt(whole?.avail ?? 0)).toBe(100n - 10n * BigInt(admitted.length));
    // The rest can be spent by the next requests, one after the other.
    const keys = { ...makeCaller(database.limiters, () => START), cache: forgetfulCache() };
    for (let i = admitted.length; i < 10; i++) expect(isAdmitted(await attempt(keys, key, 1, undefined, 10n))).toBe(true);
    const refused = (await attempt(keys, key, 1, undefined, 10n)) as Error;
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });

  test('is taken from all shards by a deduction', async () => {
    const { organization } = await setUp({}, 1_000n);
    await splitInto(organization, 5, START);
    expect(await database.limiters.addGrant(organization, 2, -900n)).toBe(true);
    expect(await database.limiters.addGrant(organization, 2, -900n)).toBe(false);
    const shards = await readAllShards(database.limiters, organization);
    expect(shards.map(({ avail }) => Number(avail)).reduce((sum, avail) => sum + avail, 0)).toBe(100);
    expect(Math.min(...shards.map(({ avail }) => Number(avail)))).toBeGreaterThanOrEqual(0);
  });

  test('is taken by a deduction from more shards than one transaction can change', async () => {
    const { organization } = await setUp({}, 100n * DOLLAR);
    await splitInto(organization, 128, START);
    expect(await database.limiters.addGrant(organization, 2, -99n * DOLLAR)).toBe(true);
    const shards = await readAllShards(database.limiters, organization);
    expect(shards).toHaveLength(128);
    expect(shards.reduce((sum, { avail }) => sum + BigInt(avail ?? 0), 0n)).toBe(DOLLAR);
    for (const { avail } of shards) expect(BigInt(avail ?? 0)).toBeGreaterThanOrEqual(0n);
  });

  test('is taken from wherever it is by a deduction while requests take and return it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 6 }),
        fc.array(fc.bigInt({ min: 1n, max: 90n }), { minLength: 3, maxLength: 10 }),
        fc.bigInt({ min: 1n, max: 100n }),
        async (shards, holds, percent) => {
          const { organization, key } = await setUp({}, 1_000n);
          await splitInto(organization, shards, START);
          const keys = { ...makeCaller(database.limiters, () => START), cache: forgetfulCache() };
          const admit = async (hold: bigint): Promise<Admission[]> => [await attempt(keys, key, 1, undefined, hold)].filter(isAdmitted);
          const earlier = (await Promise.all(holds.slice(1).map(admit))).flat();
          const available = 1_000n - holds.reduce((sum, hold) => sum + hold);
          const deducted = (available * percent) / 100n;
          const ends = earlier.map((admission) => release(keys, admission, { tokens: 1, costNanos: 1n }));
          const [, late] = await Promise.all([database.limiters.addGrant(organization, 2, -deducted), admit(holds[0] as bigint), ...ends]);
          for (const admission of late) await release(keys, admission, { tokens: 1, costNanos: 1n });
          const left = (await readAllShards(database.limiters, organization)).map(({ avail }) => BigInt(avail ?? 0));
          expect(left.reduce((sum, avail) => sum + avail, 0n)).toBe(1_000n - deducted - BigInt(earlier.length + late.length));
          for (const avail of left) expect(avail).toBeGreaterThanOrEqual(0n);
        },
      ),
      { numRuns: sized(8, 25), seed: 20_261_122 },
    );
  });
});

describe('a change while shards are added', () => {
  const growing = async (organization: string): Promise<void> => {
    for (let shards = 2; shards <= 6; shards++) {
      const before = await countShards(organization);
      const parent = await database.limiters.get(shardId(organization, nextToSplit(before, 1)[0] as number));
      const split = planSplit(parent as LimiterItem, shardId(organization, before), START);
      if (split) await database.limiters.split(organization, [split], before);
    }
  };

  test('reaches every shard or is retried, if it is of the limits', async () => {
    const { organization } = await setUp({ concurrency: 400, requestsPerMinute: 4_000, budgets: { month: 100n * DOLLAR } });
    const change = async (requestsPerMinute: number): Promise<void> => {
      for (let tries = 0; tries < 20; tries++)
        try {
          return await limitOrganization(
            database.limiters,
            organization,
            { concurrency: 300, requestsPerMinute, budgets: { month: 70n * DOLLAR } },
            START,
          );
        } catch {
          // A shard was added between the read and the write.
        }
      throw new Error('The limits could not be changed.');
    };
    for (const limit of [5_000, 3_000]) {
      await Promise.all([growing(organization), change(limit)]);
      const whole = await database.limiters.whole(organization);
      expect(whole).toMatchObject({ lim_r: limit, lim_c: 300 });
      expect(BigInt(whole?.bud_m ?? 0)).toBe(70n * DOLLAR);
      for (const item of await readAllShards(database.limiters, organization)) expect(item.all_c ?? item.lim_c).toBe(300);
    }
    expect(await countShards(organization)).toBeGreaterThan(2);
  });

  test('adds a grant once', async () => {
    const { organization } = await setUp({ concurrency: 400 }, 1_000n);
    await Promise.all([growing(organization), database.limiters.addGrant(organization, 2, 500n)]);
    expect(Number((await database.limiters.whole(organization))?.avail)).toBe(1_500);
  });
});

describe('a lowered limit of requests', () => {
  test('applies to the next request, whatever the shards have counted', async () => {
    const { organization, key } = await setUp({ concurrency: 400, requestsPerMinute: 4_000 });
    const keys = makeCaller(database.limiters, () => START);
    await splitInto(organization, 4, START);
    const admitted: Admission[] = [];
    for (let i = 0; i < 12; i++) admitted.push((await attempt(keys, key)) as Admission);
    for (const admission of admitted) await release(keys, admission, usedTokens(1));
    await limitOrganization(database.limiters, organization, { concurrency: 400, requestsPerMinute: 12 }, START);
    expect(await attempt(keys, key)).toMatchObject({ status: 429, type: 'requests' });
    await limitOrganization(database.limiters, organization, { concurrency: 400, requestsPerMinute: 14 }, START);
    const fresh = makeCaller(database.limiters, () => START);
    const more = [];
    for (let i = 0; i < 5; i++) more.push(isAdmitted(await attempt(fresh, key)));
    expect(more).toEqual([true, true, false, false, false]);
  });
});
