import { describe, expect, test } from '@jest/globals';
import type { Start } from '../../../shared/deployments/deployment.ts';
import { expectedEnd, predictStart } from '../../../shared/deployments/start-times.ts';

const start = (kind: Start['kind'], seconds: number): Start => ({ kind, seconds, at: 0 });

describe('the predicted time of a wake', () => {
  test('is that of the deployment’s own wakes', () => {
    const starts = [start('creation', 900), ...[100, 300, 200].map((seconds) => start('wake', seconds))];
    expect(predictStart(starts, [1])).toEqual({ p50: 200, p90: 300 });
  });

  test('is that of its creation before its first wake, and of other wakes on its instance type before that', () => {
    expect(predictStart([start('creation', 400)], [50])).toEqual({ p50: 400, p90: 400 });
    expect(predictStart([], [50, 70])).toEqual({ p50: 50, p90: 70 });
  });

  test('is ten minutes if nothing is known', () => {
    expect(predictStart([], []).p50).toBe(600);
  });

  test('moves to the 90th percentile when the median has passed, and then stays ahead', () => {
    const time = { p50: 60, p90: 100 };
    expect(expectedEnd(1_000, time, 1_000)).toBe(61_000);
    expect(expectedEnd(1_000, time, 61_000)).toBe(101_000);
    expect(expectedEnd(1_000, time, 500_000)).toBeGreaterThan(500_000);
  });
});
