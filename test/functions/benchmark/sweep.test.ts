import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_LEVELS, type MeasuredLevel, nextStep, type SweepStep } from '../../../functions/benchmark/sweep.ts';
import { sized } from '../../support/sized.ts';

const MAX_CONCURRENCY = 1_024;

// Levels up to the knee meet the goals, and no level above it does.
const sweep = (knee: number, max: number): { end: Extract<SweepStep, { kind: 'end' }>; measured: MeasuredLevel[] } => {
  const measured: MeasuredLevel[] = [];
  for (let level = 0; level <= MAX_LEVELS; level++) {
    const step = nextStep(measured, max);
    if (step.kind === 'end') return { end: step, measured };
    measured.push({ concurrency_per_copy: step.concurrencyPerCopy, meets_goals: step.concurrencyPerCopy <= knee });
  }
  throw new Error(`The sweep did not end within ${MAX_LEVELS} levels.`);
};

test('doubles until a goal is missed, and then halves', () => {
  const { measured, end } = sweep(11, 64);
  expect(measured.map((level) => level.concurrency_per_copy)).toEqual([1, 2, 4, 8, 16, 12, 10, 11]);
  expect(end).toEqual({ kind: 'end', because: 'goal_missed', concurrencyPerCopy: 11 });
});

test('ends at the maximum if that meets the goals, and without a result if one request misses them', () => {
  expect(sweep(100, 24).end).toEqual({ kind: 'end', because: 'max_reached', concurrencyPerCopy: 24 });
  expect(sweep(0, 24).end).toEqual({ kind: 'end', because: 'never_met', concurrencyPerCopy: null });
  expect(sweep(5, 1).end).toEqual({ kind: 'end', because: 'max_reached', concurrencyPerCopy: 1 });
});

test('finds every knee to 5 % or one request, from below, and measures no level twice', () => {
  const arbitrary = fc.tuple(fc.integer({ min: 1, max: MAX_CONCURRENCY }), fc.integer({ min: 1, max: MAX_CONCURRENCY }));
  fc.assert(
    fc.property(arbitrary, ([knee, max]) => {
      const { end, measured } = sweep(knee, max);
      const levels = measured.map((level) => level.concurrency_per_copy);
      expect(new Set(levels).size).toBe(levels.length);
      expect(Math.max(...levels)).toBeLessThanOrEqual(max);
      const found = end.concurrencyPerCopy as number;
      const best = Math.min(knee, max);
      expect(found).toBeLessThanOrEqual(best);
      expect(best - found).toBeLessThanOrEqual(found * 0.05);
    }),
    { numRuns: sized(300, 20_000) },
  );
});

test('uses the lowest level that missed a goal, even if a higher one happened to meet it', () => {
  const level = (concurrency_per_copy: number, meets_goals: boolean) => ({ concurrency_per_copy, meets_goals });
  const measured = [level(1, true), level(2, true), level(4, false), level(3, true), level(8, true)];
  expect(nextStep(measured, 16)).toEqual({ kind: 'end', because: 'goal_missed', concurrencyPerCopy: 3 });
});
