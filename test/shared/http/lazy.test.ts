import { expect, test } from '@jest/globals';
import { lazy } from '../../../shared/http/lazy.ts';

test('loads a function with its first call, once for concurrent calls', async () => {
  let loads = 0;
  const double = lazy(async () => {
    loads++;
    return async (number: number) => 2 * number;
  });
  expect(loads).toBe(0);
  expect(await Promise.all([double(1), double(2)])).toEqual([2, 4]);
  expect(await double(3)).toBe(6);
  expect(loads).toBe(1);
});
