import { expect, test } from '@jest/globals';
import { randomBase62 } from '../../../shared/ids/base62.ts';

const IDS = 20_000;
const CHARACTERS = 18;

test('never repeats random ids, and makes every character equally likely', () => {
  const ids = Array.from({ length: IDS }, () => randomBase62(CHARACTERS));
  expect(new Set(ids).size).toBe(IDS);
  const counts = new Map<string, number>();
  for (const character of ids.join('')) counts.set(character, (counts.get(character) ?? 0) + 1);
  expect([...counts.keys()].toSorted().join('')).toBe('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
  const expected = (IDS * CHARACTERS) / 62;
  // A difference of 15 standard deviations.
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected / 5);
});

test.each([1, 7, 28, 2_000])('makes ids of %d characters', (length) => {
  expect(randomBase62(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
});
