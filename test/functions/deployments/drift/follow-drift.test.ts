import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { followDrift } from '../../../../functions/deployments/drift/follow-drift.ts';
import { DAY_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { sized } from '../../../support/sized.ts';

const SPAN_MS = 10 * MINUTE_MS;

// The spans, counted from 0, after which the owner is notified.
const notifiedAfter = (percents: readonly number[]): number[] => {
  let state: Parameters<typeof followDrift>[0] = { beyond: 0, is_drifted: false };
  return percents.flatMap((percent, span) => {
    const next = followDrift(state, percent, span * SPAN_MS);
    state = next.state;
    return next.isNotified ? [span] : [];
  });
};
const DAY_SPANS = DAY_MS / SPAN_MS;

test('notifies after three spans in succession beyond the bound, in the same direction', () => {
  expect(notifiedAfter([-21, -21, -21])).toEqual([2]);
  expect(notifiedAfter([21, 90, 21])).toEqual([2]);
  expect(notifiedAfter([-21, -21, 21, -21, -21])).toEqual([]);
  expect(notifiedAfter([-21, -21, -15, -21, -21])).toEqual([]);
  expect(notifiedAfter(Array(500).fill(-20))).toEqual([]);
});

test('notifies once, until it was within ten percent again and a day has passed', () => {
  const slow = Array<number>(2 * DAY_SPANS).fill(-30);
  expect(notifiedAfter(slow)).toEqual([2]);
  expect(notifiedAfter([...slow, -15, ...slow])).toEqual([2]);
  expect(notifiedAfter([...slow, -9, ...slow])).toEqual([2, slow.length + 3]);
  expect(notifiedAfter([-30, -30, -30, 0, ...slow])).toEqual([2, DAY_SPANS + 2]);
});

test('notifies at most once a day, and never without three spans beyond the bound', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -60, max: 60 }), { maxLength: 400 }), (percents) => {
      const notified = notifiedAfter(percents);
      for (const [i, span] of notified.entries()) {
        const last = percents.slice(Math.max(0, span - 2), span + 1);
        expect([last.length, last.every((percent) => percent > 20) || last.every((percent) => percent < -20)]).toEqual([3, true]);
        if (i > 0) expect(span - (notified[i - 1] ?? 0)).toBeGreaterThanOrEqual(DAY_SPANS);
      }
    }),
    { numRuns: sized(50, 2_000) },
  );
});
