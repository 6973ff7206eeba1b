import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HOUR_MS, SECOND_MS } from '../../../shared/time/units.ts';
import { createBusySeconds } from '../../../shared/usage/busy-seconds.ts';

const START = Date.UTC(2026, 10, 21, 23);

describe('the busy seconds as periods', () => {
  test('join across the hour, and are apart otherwise', () => {
    const busy = createBusySeconds();
    busy.add(START + HOUR_MS - 1_500, 3_000);
    busy.add(START + 10 * SECOND_MS, 1);
    busy.add(START + 11 * SECOND_MS, 1_000);
    expect(busy.periods()).toEqual([
      { fromMs: START + 10_000, toMs: START + 12_000 },
      { fromMs: START + HOUR_MS - 2_000, toMs: START + HOUR_MS + 2_000 },
    ]);
  });

  test('have each second that a request touches, once, and no other', () => {
    const anyRequest = fc.tuple(fc.integer({ min: 0, max: 2 * HOUR_MS }), fc.integer({ min: 0, max: 20_000 }));
    fc.assert(
      fc.property(fc.array(anyRequest, { maxLength: 30 }), (requests) => {
        const busy = createBusySeconds();
        const touched = new Set<number>();
        for (const [afterMs, durationMs] of requests) {
          busy.add(START + afterMs, durationMs);
          const last = Math.ceil((START + afterMs + Math.max(durationMs, 1)) / SECOND_MS);
          for (let second = Math.floor((START + afterMs) / SECOND_MS); second < last; second++) touched.add(second);
        }
        const seconds = busy
          .periods()
          .flatMap(({ fromMs, toMs }) => Array.from({ length: (toMs - fromMs) / SECOND_MS }, (_, i) => fromMs / SECOND_MS + i));
        expect(seconds).toEqual([...touched].sort((one, other) => one - other));
      }),
    );
  });
});
