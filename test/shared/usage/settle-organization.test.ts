import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { userHashOf } from '../../../functions/inference/admission/user.ts';
import { settle } from '../../../functions/inference/pipeline/settle-request.ts';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { type LimiterItem, shardsOf } from '../../../shared/admission/item/limiter-item.ts';
import { nextToSplit, shardId } from '../../../shared/admission/item/shards.ts';
import { epochOf } from '../../../shared/admission/item/sweep-epoch.ts';
import { userLimiterId } from '../../../shared/admission/item/user-limiter.ts';
import { planSplit } from '../../../shared/admission/plans/split-shard.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import { createUsageStore } from '../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash, Unreachable, unreliable } from '../../support/faults/unreliable-database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../support/fixtures/callers.ts';
import { eventOf } from '../../support/fixtures/completed-event.ts';
import { limitOrganization, limitProject } from '../../support/fixtures/limit-organization.ts';
import { newId } from '../../support/fixtures/new-id.ts';
import { sweepNow } from '../../support/fixtures/sweep-now.ts';
import { sized } from '../../support/sized.ts';

const START = 29_000_010 * MINUTE_MS;
const MAX_IN_FLIGHT_MS = 11 * MINUTE_MS;
const CREDIT = 40_000n;
const BUDGET = 30_000n;
const BATCHES = 15;

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(async () => {
  await database.close();
});
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  jest.spyOn(process.stderr, 'write').mockReturnValue(true);
});

const sweepAt = (nowMs: number) =>
  sweepNow({
    limiters: database.limiters,
    usage: database.usage,
    now: () => nowMs,
    maxInFlightMs: MAX_IN_FLIGHT_MS,
    hasTime: () => true,
    database: database.database,
  });

const USERS = ['ann', 'bob', 'cleo'];

const ALONE = 'an organization’s ledger equals';
const CHAIN = 'the ledgers of an organization, a project and its end users equal';

test.each([
  ...sized([1], [1, 2, 3]).map((seed) => [seed, ALONE, false] as const),
  ...sized([4], [4, 5]).map((seed) => [seed, CHAIN, true] as const),
])('run %i: %s the sum of the events, despite crashes and moved money', async (seed, _, hasChain) => {
  const random = seededRandom(seed);
  const start = START + (100 + seed) * 24 * 60 * MINUTE_MS;
  let now = start;
  await database.limiters.markSwept(epochOf(start) - 1);
  const org = newId('organization');
  const project = newId('project');
  const chain = { project_id: project, per_user: { concurrency: 9, monthlyBudgetNanos: BUDGET } };
  const key = await makeKey(database.limiters, { org, ...(hasChain && chain) });
  await limitProject(database.limiters, project, org, { month: BUDGET });
  await limitOrganization(database.limiters, org, { budgets: { month: BUDGET }, isPrepaid: true });
  await database.limiters.addGrant(org, 1, CREDIT);
  const { cache } = makeCaller(database.limiters, () => now);
  const admitted = new Set<string>();
  let crashes = 0;
  const one = async (): Promise<void> => {
    let at = random() < 0.4 ? Math.floor(random() * 14) : Number.POSITIVE_INFINITY;
    const bad = unreliable(database.database, { random, lostRequests: 0.08, lostReplies: 0.08, crash: () => at-- === 0 });
    const keys = { store: createLimiterStore(bad, database.tables.Keys as string), cache, now: () => now };
    const result = await attempt(keys, key, 1, newRequestId(now), BigInt(Math.floor(random() * 900)), USERS[Math.floor(random() * 3)]);
    if (!isAdmitted(result)) {
      if (result instanceof Crash || result instanceof Unreachable) crashes++;
      return;
    }
    admitted.add(result.requestId);
    const event = eventOf(result, { tokens: 1, costNanos: BigInt(Math.floor(random() * Number(result.holdNanos ?? 0n))) });
    try {
      await settle({ usage: createUsageStore(bad, database.tables.Usage as string), keys }, result, event);
    } catch (error) {
      if (!(error instanceof Crash || error instanceof Unreachable)) throw error;
      crashes++;
    }
  };
  const split = async (): Promise<void> => {
    const shards = shardsOf((await database.limiters.get(org)) as LimiterItem);
    const parent = await database.limiters.get(shardId(org, nextToSplit(shards, 1)[0] as number));
    const plan = shards < 7 ? planSplit(parent as LimiterItem, shardId(org, shards), now) : undefined;
    if (plan) await database.limiters.split(org, [plan], shards);
  };
  // An entry of a user that was written too late is ended by the next rejected request.
  const readUser = async (user: string): Promise<LimiterItem> => {
    const later = makeCaller(database.limiters, () => now + 2 * MAX_IN_FLIGHT_MS);
    expect(await attempt(later, key, 1, newRequestId(now), BUDGET + 1n, user)).toMatchObject({ status: 429, param: 'user' });
    return (await database.limiters.get(userLimiterId(key.keyId, userHashOf(key.keyId, user)))) as LimiterItem;
  };
  const checkChain = async (): Promise<void> => {
    const { spent = 0, fl } = (await database.limiters.whole(org)) as LimiterItem;
    expect(await database.limiters.whole(project)).toMatchObject({ spent, fl });
    const users = await Promise.all(USERS.map(readUser));
    expect(users.map((user) => user.fl)).toEqual([{}, {}, {}]);
    expect(users.reduce((sum, user) => sum + BigInt(user.spent ?? 0), 0n)).toBe(BigInt(spent));
  };
  for (let batch = 0; batch < BATCHES; batch++) {
    await Promise.all([split(), ...Array.from({ length: 12 }, one)]);
    const whole = await database.limiters.whole(org);
    expect(BigInt(whole?.avail ?? 0)).toBeGreaterThanOrEqual(0n);
    expect(BigInt(whole?.spent ?? 0)).toBeLessThanOrEqual(BUDGET);
    now += 2_000;
  }
  await sweepAt(now + MAX_IN_FLIGHT_MS + MINUTE_MS);
  await sweepAt(now + MAX_IN_FLIGHT_MS + 6 * MINUTE_MS);
  const costs = new Map<string, bigint>();
  for (let at = start; at <= now; at += 10 * MINUTE_MS)
    for await (const event of database.usage.listByBucket(key.keyId, at)) {
      expect(costs.has(event.request_id)).toBe(false);
      costs.set(event.request_id, event.cost_nanos);
    }
  for (const id of admitted) expect(costs.has(id)).toBe(true);
  const spent = [...costs.values()].reduce((sum, cost) => sum + cost, 0n);
  const whole = await database.limiters.whole(org);
  expect(whole?.fl).toEqual({});
  expect((await database.limiters.get(key.keyId))?.fl).toEqual({});
  expect(BigInt(whole?.avail ?? 0)).toBe(CREDIT - spent);
  expect(BigInt(whole?.spent ?? 0)).toBe(spent);
  if (hasChain) await checkChain();
  expect(shardsOf((await database.limiters.get(org)) as LimiterItem)).toBeGreaterThan(3);
  expect(crashes).toBeGreaterThan(20);
});
