import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Admission, Keys } from '../../../functions/inference/admission/admit.ts';
import { settle } from '../../../functions/inference/pipeline/settle-request.ts';
import { seededRandom } from '../../../infra/local/sagemaker/seeded-random.ts';
import { createLimiterStore } from '../../../shared/admission/stores/limiter-store.ts';
import { DatabaseUnavailable } from '../../../shared/database/outage.ts';
import { newRequestId } from '../../../shared/ids/request-id.ts';
import { MINUTE_MS } from '../../../shared/time/units.ts';
import type { UsageEvent } from '../../../shared/usage/event.ts';
import { createUsageStore } from '../../../shared/usage/usage-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { Crash, Unreachable, unreliable } from '../../support/faults/unreliable-database.ts';
import { attempt, isAdmitted, makeCaller, makeKey } from '../../support/fixtures/callers.ts';
import { eventOf as usageEventOf } from '../../support/fixtures/completed-event.ts';
import { sweepNow } from '../../support/fixtures/sweep-now.ts';
import { sized } from '../../support/sized.ts';

const START = 29_000_010 * MINUTE_MS;
const MAX_IN_FLIGHT_MS = 11 * MINUTE_MS;

let database: TestDatabase;
beforeEach(async () => {
  database = await startTestDatabase();
});
afterEach(async () => {
  await database.close();
});

const eventOf = (admission: Admission, tokens: number): UsageEvent => usageEventOf(admission, { tokens, costNanos: BigInt(tokens) * 100n });

// In as many runs as it takes to catch up.
const sweepAt = async (nowMs: number, hasTime = true): Promise<{ runs: number; complete: boolean; orphans: string[] }> => {
  const orphans: string[] = [];
  const onOrphan = ({ requestId }: { requestId: string }): void => void orphans.push(requestId);
  for (let runs = 1; ; runs++) {
    const { complete } = await sweepNow({
      limiters: database.limiters,
      usage: database.usage,
      now: () => nowMs,
      maxInFlightMs: MAX_IN_FLIGHT_MS,
      hasTime: () => hasTime,
      database: database.database,
      onOrphan,
    });
    if (complete || !hasTime || runs === 10) return { runs, complete, orphans };
  }
};

const eventsOf = async (keyId: string, fromMs: number, toMs: number): Promise<UsageEvent[]> => {
  const events: UsageEvent[] = [];
  for (let at = fromMs; at <= toMs; at += 10 * MINUTE_MS)
    for await (const event of database.usage.listByBucket(keyId, at)) events.push(event);
  return events;
};

const admitted = async (keys: Keys, key: Awaited<ReturnType<typeof makeKey>>, tokens = 100): Promise<Admission> => {
  const result = await attempt(keys, key, tokens);
  if (!isAdmitted(result)) throw result;
  return result;
};

describe('settlement', () => {
  test('can be repeated, and the first event stays', async () => {
    const key = await makeKey(database.limiters);
    const keys = makeCaller(database.limiters, () => START);
    const admission = await admitted(keys, key);
    const deps = { usage: database.usage, keys };
    const first = await settle(deps, admission, eventOf(admission, 40));
    const second = await settle(deps, admission, eventOf(admission, 999));
    expect(second).toMatchObject({ prompt_tokens: 40, cost_nanos: first.cost_nanos });
    expect(await eventsOf(key.keyId, START, START)).toHaveLength(1);
    expect(await database.limiters.get(key.keyId)).toMatchObject({ fl: {}, [`t${START / 10_000}`]: 40 });
  });

  test('changes nothing after the sweep has written an orphaned event at cost 0', async () => {
    const key = await makeKey(database.limiters);
    const keys = makeCaller(database.limiters, () => START);
    const admission = await admitted(keys, key);
    await sweepAt(START + MAX_IN_FLIGHT_MS + 1);
    await settle({ usage: database.usage, keys }, admission, eventOf(admission, 40));
    expect(await eventsOf(key.keyId, START, START)).toEqual([
      expect.objectContaining({ outcome: 'orphaned', cost_nanos: 0n, source: 'estimated' }),
    ]);
  });
});

test('the sweep releases an admission that arrives after its settlement, and charges nothing twice', async () => {
  const key = await makeKey(database.limiters, { total_budget_nanos: 1_000_000n });
  const late: Parameters<typeof database.limiters.admit>[0][] = [];
  const store: typeof database.limiters = {
    ...database.limiters,
    // The first attempt is delayed until after the settlement.
    admit: async (plan) => {
      if (late.length > 0) return database.limiters.admit(plan);
      late.push(plan);
      throw new DatabaseUnavailable(new Error('timeout'));
    },
  };
  const keys = makeCaller(store, () => START);
  const admission = (await attempt(keys, key, 100, undefined, 5_000n)) as Admission;
  await settle({ usage: database.usage, keys }, admission, eventOf(admission, 7));
  await database.limiters.admit(late[0] as (typeof late)[0]);
  expect(Object.keys((await database.limiters.get(key.keyId))?.fl ?? {})).toEqual([admission.requestId]);
  await sweepAt(START + MAX_IN_FLIGHT_MS + MINUTE_MS);
  expect(await database.limiters.get(key.keyId)).toMatchObject({ fl: {}, spent: 700 });
  expect(await eventsOf(key.keyId, START, START)).toHaveLength(1);
});

describe('the sweep', () => {
  test('settles new requests although one limiter has kept an epoch from being finished for days', async () => {
    const [bad, good] = [await makeKey(database.limiters), await makeKey(database.limiters)];
    const usage: typeof database.usage = {
      ...database.usage,
      get: async (keyId, ...rest) => {
        if (keyId === bad.keyId) throw new Error('This one cannot be swept.');
        return database.usage.get(keyId, ...rest);
      },
    };
    await sweepAt(START - MINUTE_MS);
    await admitted(
      makeCaller(database.limiters, () => START),
      bad,
    );
    const later = START + 5 * 24 * 60 * MINUTE_MS;
    const { requestId } = await admitted(
      makeCaller(database.limiters, () => later),
      good,
    );
    const orphans: string[] = [];
    const lines: string[] = [];
    const logged = jest.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    const sweeping = sweepNow({
      limiters: database.limiters,
      usage,
      now: () => later + MAX_IN_FLIGHT_MS + MINUTE_MS,
      maxInFlightMs: MAX_IN_FLIGHT_MS,
      hasTime: () => true,
      database: database.database,
      onOrphan: (orphan) => void orphans.push(orphan.requestId),
    });
    await expect(sweeping).rejects.toThrow('could not be swept');
    logged.mockRestore();
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ message: 'limiter_not_swept', limiter: bad.keyId, detail: 'This one cannot be swept.' }),
    ]);
    expect(orphans).toEqual([requestId]);
  });

  test('does not touch requests that can still be in flight', async () => {
    const key = await makeKey(database.limiters);
    await admitted(
      makeCaller(database.limiters, () => START),
      key,
    );
    await sweepAt(START + MAX_IN_FLIGHT_MS);
    expect(Object.keys((await database.limiters.get(key.keyId))?.fl ?? {})).toHaveLength(1);
  });

  test('releases a request based on its event if the function crashed after writing it', async () => {
    const key = await makeKey(database.limiters);
    const admission = await admitted(
      makeCaller(database.limiters, () => START),
      key,
    );
    await database.usage.putIfAbsent(eventOf(admission, 40));
    const report = await sweepAt(START + MAX_IN_FLIGHT_MS + 1);
    expect(report.complete).toBe(true);
    expect((await database.limiters.get(key.keyId))?.fl).toEqual({});
    expect(await eventsOf(key.keyId, START, START)).toEqual([expect.objectContaining({ outcome: 'completed', prompt_tokens: 40 })]);
  });

  test('finds an orphan of an idle key after an outage of days', async () => {
    await sweepAt(START - MINUTE_MS);
    const key = await makeKey(database.limiters);
    const { requestId } = await admitted(
      makeCaller(database.limiters, () => START),
      key,
    );
    const report = await sweepAt(START + 3 * 24 * 60 * MINUTE_MS);
    // The run that finds it finishes no epoch.
    expect(report).toEqual({ runs: 3, complete: true, orphans: [requestId] });
    expect((await database.limiters.get(key.keyId))?.fl).toEqual({});
    expect(await sweepAt(START + 3 * 24 * 60 * MINUTE_MS)).toEqual({ runs: 1, complete: true, orphans: [] });
  });

  test('reports how far it is behind, until a run has finished what could be swept', async () => {
    const now = START + 30 * 24 * 60 * MINUTE_MS;
    await sweepAt(now);
    const key = await makeKey(database.limiters);
    await admitted(
      makeCaller(database.limiters, () => now),
      key,
    );
    const runAt = (later: number) =>
      sweepNow({
        limiters: database.limiters,
        usage: database.usage,
        now: () => later,
        maxInFlightMs: MAX_IN_FLIGHT_MS,
        hasTime: () => true,
        database: database.database,
      });
    expect((await runAt(now)).behind_ms).toBe(0);
    const afterOutage = now + 24 * 60 * MINUTE_MS;
    // The run that settles an orphan finishes nothing from its epoch on.
    expect((await runAt(afterOutage)).behind_ms).toBeGreaterThanOrEqual(23 * 60 * MINUTE_MS);
    expect((await runAt(afterOutage)).behind_ms).toBe(0);
  });

  test('stops when its time is up and continues from there', async () => {
    const key = await makeKey(database.limiters);
    const { requestId } = await admitted(
      makeCaller(database.limiters, () => START),
      key,
    );
    const late = START + MAX_IN_FLIGHT_MS + 2 * MINUTE_MS;
    expect(await sweepAt(late, false)).toEqual({ runs: 1, complete: false, orphans: [] });
    expect((await sweepAt(late)).orphans).toEqual([requestId]);
  });
});

test.each(sized([1], [1, 2, 3, 4, 5]))(
  'run %i: each admitted request has one event, after 400 requests with crashes and two sweeps',
  async (seed) => {
    const random = seededRandom(seed);
    const start = START + (100 + seed) * 24 * 60 * MINUTE_MS;
    await sweepAt(start);
    const key = await makeKey(database.limiters);
    let now = start;
    const tables = database.tables;
    const crashingAt = (faults: { at: number }) =>
      unreliable(database.database, {
        random,
        lostRequests: 0.12,
        lostReplies: 0.12,
        crash: () => faults.at-- === 0,
      });
    const seen = new Map<string, 'admitted' | 'unknown'>();
    const settled = new Map<string, number>();
    const one = async (): Promise<void> => {
      const requestId = newRequestId(now);
      // Before or after each call of a request: admission, event, release. About half of the requests do not crash.
      const crashAt = random() < 0.48 ? Math.floor(random() * 6) : Number.POSITIVE_INFINITY;
      const bad = crashingAt({ at: crashAt });
      const keys = { ...makeCaller(createLimiterStore(bad, tables.Keys as string), () => now), cache: warm };
      const result = await attempt(keys, key, 100, requestId);
      if (!isAdmitted(result)) {
        if (!(result instanceof Crash || result instanceof Unreachable)) throw result;
        seen.set(requestId, 'unknown');
        return;
      }
      seen.set(requestId, 'admitted');
      const tokens = Math.floor(random() * 200);
      try {
        await settle({ usage: createUsageStore(bad, tables.Usage as string), keys }, result, eventOf(result, tokens));
        settled.set(requestId, tokens);
      } catch (error) {
        if (!(error instanceof Crash || error instanceof Unreachable)) throw error;
      }
    };
    const warming = makeCaller(database.limiters, () => now);
    const first = await admitted(warming, key);
    await settle({ usage: database.usage, keys: warming }, first, eventOf(first, 0));
    const warm = warming.cache;
    for (let batch = 0; batch < 20; batch++) {
      await Promise.all(Array.from({ length: 20 }, one));
      now += 2_000;
    }
    const item = await database.limiters.get(key.keyId);
    const counted = Object.entries(item ?? {}).reduce((sum, [name, count]) => (/^r\d+$/.test(name) ? sum + (count as number) : sum), 0);

    await sweepAt(now + MAX_IN_FLIGHT_MS + MINUTE_MS);
    await sweepAt(now + MAX_IN_FLIGHT_MS + 6 * MINUTE_MS);
    const events = await eventsOf(key.keyId, start, now);
    const ids = events.map(({ request_id }) => request_id);
    expect(new Set(ids).size).toBe(ids.length);
    // The count includes the first request, which warms the cache. A request whose admission crashed is admitted iff
    // it was counted.
    expect(events).toHaveLength(counted);
    for (const [id, state] of seen) if (state === 'admitted') expect(ids).toContain(id);
    for (const [id, tokens] of settled)
      expect(events.find(({ request_id }) => request_id === id)).toMatchObject({ outcome: 'completed', prompt_tokens: tokens });
    expect((await database.limiters.get(key.keyId))?.fl).toEqual({});
    expect([...seen.values()].filter((state) => state === 'unknown').length).toBeGreaterThan(20);
    expect(seen.size - settled.size).toBeGreaterThan(100);
  },
);
