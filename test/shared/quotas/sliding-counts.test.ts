import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSlidingCounts, type SlidingLimit } from '../../../shared/quotas/sliding-counts.ts';
import { startTestDatabase, type TestDatabase } from '../../support/emulators/database.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const WINDOW_MS = 5 * 60_000;
const SLOT_MS = WINDOW_MS / 10;

let database: TestDatabase;
let counts: ReturnType<typeof createSlidingCounts>;
beforeAll(async () => {
  database = await startTestDatabase();
  counts = createSlidingCounts(database.database, database.tables.Attempts as string);
});
afterAll(async () => {
  await database.close();
});

const limitOf = (id: string): SlidingLimit => ({ id, max: 10, windowMs: WINDOW_MS });

// Counts them one after another.
const countedOf = async (limit: SlidingLimit, instants: readonly number[]): Promise<number[]> => {
  const counted: number[] = [];
  for (const nowMs of instants) if ((await counts.count(limit, nowMs)) === undefined) counted.push(nowMs);
  return counted;
};

const countedAtOnce = async (limit: SlidingLimit, attempts: number, nowMs: number): Promise<number> => {
  const results = await Promise.all(Array.from({ length: attempts }, () => counts.count(limit, nowMs)));
  return results.filter((seconds) => seconds === undefined).length;
};

const mostInWindow = (instants: readonly number[]): number =>
  Math.max(...instants.map((start) => instants.filter((at) => at >= start && at < start + WINDOW_MS).length));

describe('a limit of a sliding window', () => {
  test('lets no more through around a boundary of five minutes than within one', async () => {
    const around = [-1_000, 1_000].flatMap((offset) => Array.from({ length: 20 }, (_, i) => NOON + offset + i));
    expect(await countedOf(limitOf('boundary'), around)).toHaveLength(10);
  });

  test('holds in every window, and lets as many through again a slot later at the latest', async () => {
    const instants = Array.from({ length: 300 }, (_, i) => NOON + i * 4_700 + ((i * 7_919) % 1_300));
    const counted = await countedOf(limitOf('always'), instants);
    expect(mostInWindow(counted)).toBe(10);
    const spanMs = (instants.at(-1) as number) - NOON;
    expect(counted.length).toBeGreaterThanOrEqual(Math.floor((10 * spanMs) / (WINDOW_MS + SLOT_MS)));
  });

  test('returns the seconds until one more fits', async () => {
    const limit = limitOf('waiting');
    await countedOf(
      limit,
      Array.from({ length: 10 }, (_, i) => NOON + i * 1_000),
    );
    const nowMs = NOON + 60_000;
    const seconds = (await counts.count(limit, nowMs)) ?? 0;
    expect(await counts.count(limit, nowMs + (seconds - 1) * 1_000)).toBe(1);
    expect(await counts.count(limit, nowMs + seconds * 1_000)).toBeUndefined();
  });

  test('is exact if many environments count at the same time, also in the first moment of a slot', async () => {
    const limit = limitOf('many');
    expect(await countedAtOnce(limit, 40, NOON)).toBe(10);
    expect(await countedAtOnce(limit, 40, NOON + WINDOW_MS - 1)).toBe(0);
    expect(await countedAtOnce(limit, 40, NOON + WINDOW_MS)).toBe(10);
  });

  test('has room again for an attempt that is taken back, in its slot and in later ones', async () => {
    const limit = limitOf('taken-back');
    const inNextSlot = NOON + SLOT_MS;
    await countedOf(limit, Array<number>(6).fill(NOON));
    await countedOf(limit, Array<number>(4).fill(inNextSlot));
    await counts.takeBack(limit, NOON);
    await counts.takeBack(limit, inNextSlot);
    expect(await countedAtOnce(limit, 10, inNextSlot)).toBe(2);
  });

  test('gains no room from an attempt that is taken back when it counts no longer', async () => {
    const limit = limitOf('too-late');
    await counts.count(limit, NOON);
    expect(await countedAtOnce(limit, 20, NOON + 2 * WINDOW_MS)).toBe(10);
    await counts.takeBack(limit, NOON);
    expect(await counts.count(limit, NOON + 2 * WINDOW_MS)).toBe(WINDOW_MS / 1_000);
  });

  test('counts anew when the clock went back by more than a window, and takes back what it counts then', async () => {
    const limit = limitOf('gone back');
    expect(await countedAtOnce(limit, 12, NOON + 30 * 86_400_000)).toBe(10);
    expect(await countedAtOnce(limit, 12, NOON)).toBe(10);
    await counts.takeBack(limit, NOON);
    expect(await countedAtOnce(limit, 12, NOON + 1)).toBe(1);
  });

  test('counts for an environment whose clock is behind', async () => {
    const limit = limitOf('behind');
    await countedOf(limit, Array<number>(4).fill(NOON));
    expect(await countedOf(limit, Array<number>(20).fill(NOON - 40))).toHaveLength(6);
  });
});
