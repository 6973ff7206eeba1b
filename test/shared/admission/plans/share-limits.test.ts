import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { shareBudget } from '../../../../shared/admission/plans/share-limits.ts';

const DOLLAR = 1_000_000_000n;
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
const amount = fc.bigInt({ min: 0n, max: 200n * DOLLAR });
const counts = fc.array(amount, { minLength: 1, maxLength: 42 });

test('divides a budget into parts that add up to it, whatever the shards have counted', () => {
  fc.assert(
    fc.property(amount, counts, fc.integer({ min: 1, max: 42 }), (budget, counted, usable) => {
      expect(sum(shareBudget(budget, counted, usable))).toBe(budget);
    }),
    { numRuns: 2_000 },
  );
});

test('lets the shards together spend exactly the rest of the budget', () => {
  fc.assert(
    fc.property(amount, counts, fc.integer({ min: 1, max: 42 }), (budget, counted, usable) => {
      const parts = shareBudget(budget, counted, usable);
      const room = sum(parts.map((part, i) => (part > (counted[i] as bigint) ? part - (counted[i] as bigint) : 0n)));
      const left = budget - sum(counted);
      expect(room).toBe(left > 0n ? left : 0n);
    }),
    { numRuns: 2_000 },
  );
});

test('gives the rest of the budget to usable shards, in parts of at least a dollar where it suffices', () => {
  fc.assert(
    fc.property(amount, counts, fc.integer({ min: 1, max: 42 }), (budget, counted, usable) => {
      fc.pre(sum(counted) < budget);
      const rooms = shareBudget(budget, counted, usable).map((part, i) => part - (counted[i] as bigint));
      expect(rooms.slice(usable).every((room) => room === 0n)).toBe(true);
      const left = budget - sum(counted);
      if (left >= DOLLAR) expect(rooms.filter((room) => room > 0n).every((room) => room >= DOLLAR)).toBe(true);
      else expect(rooms.filter((room) => room > 0n)).toEqual([left]);
    }),
    { numRuns: 2_000 },
  );
});

test('gives the shards of a new key equal parts', () => {
  expect(shareBudget(80n * DOLLAR, [0n, 0n, 0n, 0n], 4)).toEqual([20n * DOLLAR, 20n * DOLLAR, 20n * DOLLAR, 20n * DOLLAR]);
});
