import { describe, expect, test } from '@jest/globals';
import type { BatchGetInput, Item } from '../../../shared/database/database.ts';
import { getItems } from '../../../shared/database/get-items.ts';

const KEYS = ['a', 'b', 'c'].map((id) => ({ id }));

// A table that reads `most` items in each call, as a partition that is throttled.
const readingOf = (most: number) => {
  const requested: Item[][] = [];
  const waits: number[] = [];
  const batchGet = async ({ RequestItems }: BatchGetInput) => {
    const { Keys } = RequestItems.keys as { Keys: Item[] };
    requested.push(Keys);
    return { Responses: { keys: Keys.slice(0, most) }, UnprocessedKeys: { keys: { Keys: Keys.slice(most) } } };
  };
  const wait = async (ms: number): Promise<unknown> => waits.push(ms);
  return { requested, waits, read: () => getItems({ batchGet }, 'keys', { Keys: KEYS }, wait) };
};

describe('a batch of items', () => {
  test('is read without a wait if no key is left', async () => {
    const { read, waits } = readingOf(3);
    expect(await read()).toEqual(KEYS);
    expect(waits).toEqual([]);
  });

  test('requests the keys that are left again, each time after a longer wait', async () => {
    const { read, requested, waits } = readingOf(1);
    expect(await read()).toEqual(KEYS);
    expect(requested).toEqual([KEYS, KEYS.slice(1), KEYS.slice(2)]);
    expect(waits).toHaveLength(2);
  });

  test('is a 503 if keys are left after five attempts, and waits less than a second for them', async () => {
    const { read, requested, waits } = readingOf(0);
    await expect(read()).rejects.toMatchObject({ status: 503 });
    expect(requested).toHaveLength(5);
    const least = [20, 40, 80, 160];
    expect(waits.map((ms, i) => ms >= (least[i] as number) && ms <= 3 * (least[i] as number))).toEqual([true, true, true, true]);
    expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThan(1_000);
  });
});
