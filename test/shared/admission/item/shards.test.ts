import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Admission, type Keys, release } from '../../../../functions/inference/admission/admit.ts';
import { settle } from '../../../../functions/inference/pipeline/settle-request.ts';
import { seededRandom } from '../../../../infra/local/sagemaker/seeded-random.ts';
import { isKeyItem } from '../../../../shared/admission/item/key-item.ts';
import { ownerIdOf, shardId, shardOf, shardsFor, shareOf, shareOfNanos } from '../../../../shared/admission/item/shards.ts';
import { slotOf } from '../../../../shared/admission/item/sliding-window.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';
import { startTestDatabase, type TestDatabase } from '../../../support/emulators/database.ts';
import { attempt, isAdmitted, makeCaller, makeKey, usedTokens } from '../../../support/fixtures/callers.ts';
import { eventOf } from '../../../support/fixtures/completed-event.ts';

const START = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
const limitsOfFourShards = { requests_per_minute: 100, tokens_per_minute: 400_000, concurrency: 48 };

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});

const shardItems = async (keyId: string, shards: number) =>
  Promise.all(Array.from({ length: shards }, (_, i) => database.limiters.get(shardId(keyId, i))));

describe('the number of shards of a key', () => {
  test.each([
    [{ requestsPerMinute: 600, tokensPerMinute: 200_000, concurrency: 12 }, 1],
    [{ requestsPerMinute: 600, tokensPerMinute: 200_000, concurrency: 32 }, 3],
    [{ requestsPerMinute: 600, tokensPerMinute: 100_000, concurrency: 1_000 }, 1],
    [{ requestsPerMinute: 600, tokensPerMinute: 10_000_000, concurrency: 1_000 }, 84],
    [{ requestsPerMinute: 48_000, tokensPerMinute: 10_000_000, concurrency: 12 }, 2],
    [{ requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 500 }, 42],
    [{ requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 }, 834],
    [{ requestsPerMinute: 3, tokensPerMinute: 1_000_000_000, concurrency: 1_000 }, 3],
    [{ requestsPerMinute: 0, tokensPerMinute: 0, concurrency: 0 }, 1],
  ])('is for the limits %j: %i', (limits, shards) => {
    expect(shardsFor({ ...limits, budgets: {} })).toBe(shards);
  });

  test('is small enough that each part of a budget is at least a dollar', () => {
    const limits = { requestsPerMinute: 600, tokensPerMinute: 10_000_000, concurrency: 1_000 };
    expect(shardsFor({ ...limits, budgets: { day: 1_000_000_000n, month: 50_000_000_000n } })).toBe(1);
    expect(shardsFor({ ...limits, budgets: { total: 5_900_000_000n } })).toBe(5);
  });

  test('divides limits into parts that add up to the whole', () => {
    for (const [whole, shards] of [
      [100, 7],
      [3, 3],
      [0, 4],
      [1_000, 42],
    ] as const) {
      const parts = Array.from({ length: shards }, (_, i) => shareOf(whole, shards, i));
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(whole);
      expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      const nanos = Array.from({ length: shards }, (_, i) => shareOfNanos(BigInt(whole), shards, i));
      expect(nanos.reduce((sum, part) => sum + part, 0n)).toBe(BigInt(whole));
    }
  });

  test('spreads requests evenly over shards, whose ids contain their key’s id', () => {
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 4_000; i++) {
      const shard = shardOf(newRequestId(START + i), 4);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    // A difference of five standard deviations.
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    expect(ownerIdOf(shardId('key_a', 3))).toBe('key_a');
    expect(shardId('key_a', 0)).toBe('key_a');
  });
});

describe('a key with four shards', () => {
  test('admits at most 100 of 300 concurrent requests over ten cold environments, as its limit says', async () => {
    const key = await makeKey(database.limiters, { ...limitsOfFourShards, tokens_per_minute: 300_000, concurrency: 128 });
    const environments: Keys[] = Array.from({ length: 10 }, () => makeCaller(database.limiters, () => START + 1_000));
    const results = await Promise.all(Array.from({ length: 300 }, (_, i) => attempt(environments[i % 10] as Keys, key)));
    const admitted = results.filter(isAdmitted);
    expect(admitted.length).toBeLessThanOrEqual(100);
    expect(admitted.length).toBeGreaterThan(90);
    const refusals = results.filter((result) => !isAdmitted(result) && (result as { status?: number }).status !== 503);
    for (const rejected of refusals) expect(rejected).toMatchObject({ status: 429, type: 'requests' });
    const refusal = refusals[0] as Error;
    expect(refusal.message).toContain('The limit of 100 requests per minute');
    const items = await shardItems(key.keyId, 4);
    expect(items.map((item) => Object.keys(item?.fl ?? {}).length).reduce((sum, count) => sum + count, 0)).toBe(admitted.length);
    await Promise.all(admitted.map((admission) => release(environments[0] as Keys, admission, usedTokens(1))));
    for (const item of await shardItems(key.keyId, 4)) expect(item?.fl).toEqual({});
  });

  test('never has a request too many in flight, even if its limit is not divisible by four', async () => {
    const key = await makeKey(database.limiters, { ...limitsOfFourShards, requests_per_minute: 24_000, concurrency: 37 });
    expect((await database.limiters.get(key.keyId)) as object).toMatchObject({ shards: 4, lim_c: 10 });
    const admitted = [];
    for (let i = 0; i < 60; i++)
      admitted.push(
        await attempt(
          makeCaller(database.limiters, () => START + 1_000),
          key,
        ),
      );
    const inFlight = (await shardItems(key.keyId, 4)).map((item) => Object.keys(item?.fl ?? {}).length);
    expect(inFlight.reduce((sum, count) => sum + count, 0)).toBe(admitted.filter(isAdmitted).length);
    expect(Math.max(...inFlight.slice(1))).toBeLessThanOrEqual(9);
    // If two shards reject a request, it is tried in one with room.
    expect(admitted.filter(isAdmitted)).toHaveLength(37);
  });

  test('admits a request that is larger than the part of one shard, and corrects its reservation', async () => {
    const key = await makeKey(database.limiters, limitsOfFourShards);
    const keys = makeCaller(database.limiters, () => START + 1_000);
    const admission = (await attempt(keys, key, 300_000)) as Admission;
    expect(isAdmitted(admission)).toBe(true);
    // The shard's whole part, or one less if it was guessed.
    expect(admission.reservations[0]?.entry.tokens).toBeGreaterThanOrEqual(99_999);
    await release(keys, admission, usedTokens(250_000));
    expect((await database.limiters.get(admission.reservations[0]?.limiterId ?? ''))?.[`t${slotOf(START)}`]).toBe(250_000);
    // A request larger than the whole limit never fits.
    expect(await attempt(keys, key, 400_001)).toMatchObject({ status: 429, headers: { 'x-should-retry': 'false' } });
  });

  test('reports what is left of the whole key’s limits', async () => {
    const key = await makeKey(database.limiters, limitsOfFourShards);
    const { headers } = (await attempt(
      makeCaller(database.limiters, () => START),
      key,
    )) as Admission;
    expect(headers).toMatchObject({ 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': '96' });
  });

  test('gets insufficient_quota only if all shards’ budgets together cannot pay for the request', async () => {
    const key = await makeKey(database.limiters, { ...limitsOfFourShards, total_budget_nanos: 4_000_000_000n });
    const keys = makeCaller(database.limiters, () => START + 1_000);
    const random = seededRandom(3);
    let spent = 0n;
    for (let i = 0; i < 40; i++) {
      const holdNanos = BigInt(200_000_000 + Math.floor(random() * 100_000_000));
      const admission = await attempt(keys, key, 1, undefined, holdNanos);
      if (!isAdmitted(admission)) {
        expect(admission).toMatchObject({ code: 'insufficient_quota' });
        const left = (await shardItems(key.keyId, 4)).map((item) => BigInt(item?.bud_t ?? 0) - BigInt(item?.spent ?? 0));
        expect(left.reduce((sum, room) => sum + room, 0n)).toBeLessThan(holdNanos);
        continue;
      }
      await settle({ usage: database.usage, keys }, admission, eventOf(admission, { tokens: 1, costNanos: holdNanos }));
      spent += holdNanos;
    }
    expect(spent).toBeLessThanOrEqual(4_000_000_000n);
    expect(spent).toBeGreaterThan(3_800_000_000n);
  });

  test('stores the event of a request in the shard that its id determines, whichever shard admitted it', async () => {
    const key = await makeKey(database.limiters, limitsOfFourShards);
    const keys = makeCaller(database.limiters, () => START + 1_000);
    for (let i = 0; i < 12; i++) {
      const admission = (await attempt(keys, key)) as Admission;
      await settle({ usage: database.usage, keys }, admission, eventOf(admission, { tokens: 1, costNanos: 1n }));
      expect(await database.usage.get(key.keyId, admission.requestId, 4)).toMatchObject({
        request_id: admission.requestId,
        key_id: key.keyId,
      });
    }
    const items = await shardItems(key.keyId, 4);
    expect(items.every((item) => item && isKeyItem(item) && item.shards === 4)).toBe(true);
    expect(items.reduce((sum, item) => sum + Number(item?.spent ?? 0), 0)).toBe(12);
  });
});
