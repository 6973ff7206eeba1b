import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { RateLimits } from '../../../../shared/admission/item/limits.ts';
import {
  type LimiterUsage,
  PAST_SLOTS,
  refusalOf,
  remaining,
  resetMs,
  retryAfterMs,
  SLOT_MS,
  slotOf,
  type Window,
} from '../../../../shared/admission/item/sliding-window.ts';
import { formatDuration, rateLimitHeaders } from '../../../../shared/admission/keys/rate-limits.ts';
import { MINUTE_MS } from '../../../../shared/time/units.ts';

const START = 29_000_000 * MINUTE_MS;
const wide: RateLimits = { requestsPerMinute: 50, tokensPerMinute: 1_000_000, concurrency: 1_000 };
const EMPTY = [0, 0, 0, 0, 0, 0];
const used = (usage: Partial<LimiterUsage>): LimiterUsage => ({
  requests: { current: 0, past: EMPTY },
  tokens: { current: 0, past: EMPTY },
  inFlight: 0,
  ...usage,
});

describe('the sliding window', () => {
  test('rejects everything, permanently, with a limit of 0', () => {
    const refusal = refusalOf({ ...wide, requestsPerMinute: 0 }, used({}), 1, START);
    expect(refusal).toEqual({ dimension: 'requests', retryAfterMs: Number.POSITIVE_INFINITY });
  });

  test('never admits a request larger than the tokens-per-minute limit', () => {
    expect(refusalOf({ ...wide, tokensPerMinute: 100 }, used({}), 101, START)?.retryAfterMs).toBe(Number.POSITIVE_INFINITY);
    expect(refusalOf({ ...wide, tokensPerMinute: 100 }, used({}), 100, START)).toBeUndefined();
  });

  test('reports the limit with the longest wait', () => {
    const usage = used({ requests: { current: 50, past: EMPTY }, inFlight: 1_000 });
    expect(refusalOf(wide, usage, 1, START + 30_000)?.dimension).toBe('requests');
    expect(refusalOf(wide, used({ inFlight: 1_000 }), 1, START)).toEqual({ dimension: 'concurrency', retryAfterMs: 1_000 });
  });

  test('reports the first instant at which the request fits as the wait', () => {
    const count = fc.integer({ min: 0, max: 60 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        count,
        fc.array(count, { minLength: PAST_SLOTS, maxLength: PAST_SLOTS }),
        fc.integer({ min: 0, max: SLOT_MS - 1 }),
        fc.integer({ min: 1, max: 20 }),
        (limit, current, past, elapsed, amount) => {
          fc.pre(amount <= limit);
          const now = START + elapsed;
          const windowAt = (atMs: number): Window => {
            const slots = slotOf(atMs) - slotOf(now);
            const [first = 0, ...others] = [...Array(slots).fill(0), current, ...past].slice(0, PAST_SLOTS + 1);
            return { current: first, past: others };
          };
          const fits = (atMs: number): boolean => remaining(limit, windowAt(atMs)) >= amount;
          const wait = retryAfterMs(limit, { current, past }, amount, now);
          expect(fits(now + wait)).toBe(true);
          if (wait > 0) expect(fits(now + wait - 1)).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('reports the instant at which no request counts any more as the reset time', () => {
    expect(resetMs({ current: 0, past: EMPTY }, START + 3_000)).toBe(0);
    expect(resetMs({ current: 0, past: [0, 0, 0, 0, 0, 3] }, START + 3_000)).toBe(7_000);
    expect(resetMs({ current: 0, past: [1, 0, 0, 0, 0, 3] }, START + 3_000)).toBe(57_000);
    expect(resetMs({ current: 1, past: EMPTY }, START + 3_000)).toBe(67_000);
  });
});

describe('the rate-limit headers', () => {
  test('report each limit, what is left of it and when it is fully available again', () => {
    const requests = { limit: 50, remaining: 30, resetMs: 90_000 };
    const tokens = { limit: 1_000, remaining: 600, resetMs: 850 };
    expect(rateLimitHeaders({ requests, tokens })).toEqual({
      'x-ratelimit-limit-requests': '50',
      'x-ratelimit-remaining-requests': '30',
      'x-ratelimit-reset-requests': '1m30s',
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': '600',
      'x-ratelimit-reset-tokens': '850ms',
    });
  });

  test.each([
    [0, '0ms'],
    [850, '850ms'],
    [12_500, '12.5s'],
    [90_000, '1m30s'],
  ])('write %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
