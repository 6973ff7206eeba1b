import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createShadowStore, MAX_PARALLEL_SHADOWS, type ShadowStore, shadowRecordKey } from '../../../shared/deployments/shadow-store.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';
import { newId } from '../../support/fixtures/new-id.ts';

const NOW = 1_790_000_000_000;
const LEASE_MS = 60_000;
const BUDGET = { number: 1, max_requests: 20, max_tokens: 1_000 };

let database: TestDatabase;
let shadows: ShadowStore;
let deployment: string;
beforeAll(async () => {
  database = await startTestDatabase();
  shadows = createShadowStore(database.database, database.tables.Deployments as string);
});
afterAll(() => database.close());
beforeEach(async () => {
  deployment = newId('deployment');
  await transact(database.database, [shadows.toCreate(deployment, 1)]);
});

const reserve = (id: string, tokens = 10, nowMs = NOW, budget = BUDGET) =>
  shadows.reserve(deployment, budget, { id, tokens, nowMs, expiresAtMs: nowMs + LEASE_MS });
// `a` and `b` have different places, `a` and `c` the same.
const taken = async (id: string, tokens?: number, nowMs?: number) => {
  const place = await reserve(id, tokens, nowMs);
  if (typeof place === 'string') throw new Error(place);
  return place;
};

describe('a budget', () => {
  test.each([
    ['requests', { number: 1, max_requests: 20, max_tokens: 1_000_000 }, 20],
    ['tokens', { number: 1, max_requests: 10_000, max_tokens: 199 }, 19],
  ])('has its %s used to its end and never exceeded by 50 functions at once', async (_, budget, most) => {
    let running = 0;
    let mostRunning = 0;
    let sent = 0;
    const work = async (worker: number): Promise<void> => {
      for (let i = 0; ; i++) {
        const place = await reserve(`${worker}-${i}`, 10, NOW, budget);
        if (place === 'used_up') return;
        if (place === 'busy') continue;
        sent++;
        running++;
        mostRunning = Math.max(mostRunning, running);
        await new Promise(setImmediate);
        running--;
        await shadows.record(deployment, 1, place, { unusedTokens: 0, counts: { compared: 1 } });
      }
    };
    await Promise.all(Array.from({ length: 50 }, (_unused, worker) => work(worker)));
    expect(sent).toBe(most);
    expect(mostRunning).toBeLessThanOrEqual(MAX_PARALLEL_SHADOWS);
    expect(await shadows.read(deployment, 1)).toEqual({ requests: most, tokens: 10 * most, isUsedUp: true, counts: { compared: most } });
  });

  test('gets back the tokens that a request did not use', async () => {
    await shadows.record(deployment, 1, await taken('a', 900), { unusedTokens: 800, counts: { compared: 1 } });
    expect(await shadows.read(deployment, 1)).toMatchObject({ requests: 1, tokens: 100 });
    await taken('a', 900);
    expect(await reserve('b', 1)).toBe('used_up');
  });

  test('stays used up, also for a request that would still fit', async () => {
    expect(await reserve('a', 1_001)).toBe('used_up');
    expect(await reserve('a', 1)).toBe('used_up');
    expect(await shadows.read(deployment, 1)).toMatchObject({ requests: 0, tokens: 0, isUsedUp: true });
  });
});

describe('a place', () => {
  test('is taken by one request at a time', async () => {
    const place = await taken('a');
    expect(await reserve('c')).toBe('busy');
    await taken('b');
    await shadows.record(deployment, 1, place, { unusedTokens: 0, counts: {} });
    await taken('c');
  });

  test('is free again after a crash, whose request and tokens are lost, and whose late result is not counted', async () => {
    const lost = await taken('a', 100);
    expect(await reserve('c', 100, NOW + LEASE_MS)).toBe('busy');
    await taken('c', 100, NOW + LEASE_MS + 1);
    await shadows.record(deployment, 1, lost, { unusedTokens: 100, counts: { compared: 1 } });
    expect(await shadows.read(deployment, 1)).toEqual({ requests: 2, tokens: 200, isUsedUp: false, counts: {} });
  });

  test('counts a result once, although its write is repeated', async () => {
    const place = await taken('a', 100);
    const result = { unusedTokens: 40, counts: { compared: 1, serving_duration_ms: 12 } } as const;
    await shadows.record(deployment, 1, place, result);
    await shadows.record(deployment, 1, place, result);
    expect(await shadows.read(deployment, 1)).toMatchObject({ tokens: 60, counts: { compared: 1, serving_duration_ms: 12 } });
  });
});

describe('comparisons of a deployment', () => {
  test('take the place of the oldest of five, whose requests then have no effect', async () => {
    const place = await taken('a');
    await transact(database.database, [shadows.toCreate(deployment, 6)]);
    await shadows.record(deployment, 1, place, { unusedTokens: 0, counts: { compared: 1 } });
    expect(await reserve('b')).toBe('used_up');
    expect(await shadows.read(deployment, 1)).toBeUndefined();
    expect(await shadows.read(deployment, 6)).toEqual({ requests: 0, tokens: 0, isUsedUp: false, counts: {} });
  });

  test('are gone once they are deleted, and no request brings one back', async () => {
    const place = await taken('a');
    const records = createRecordTable(database.database, database.tables.Deployments as string);
    await transact(database.database, [records.toDelete(shadowRecordKey(deployment, 1))]);
    await shadows.record(deployment, 1, place, { unusedTokens: 0, counts: { compared: 1 } });
    expect(await reserve('b')).toBe('used_up');
    expect(await shadows.read(deployment, 1)).toBeUndefined();
  });
});
