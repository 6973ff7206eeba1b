import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { costNanos, Price, priceAt } from '../../../shared/prices/price.ts';

const price = (version: string, effective_at: number, prompt_nanos = 100_000_000, completion_nanos = 400_000_000): Price => ({
  version,
  effective_at,
  prompt_nanos,
  completion_nanos,
});

describe('the cost of a request', () => {
  test('is $0.0003 for 1,000 prompt and 500 completion tokens at $0.10 and $0.40 per million', () => {
    expect(costNanos(price('1', 0), { promptTokens: 1_000, completionTokens: 500 })).toBe(300_000n);
  });

  test('is rounded once, half up', () => {
    expect(costNanos(price('1', 0, 500_000, 0), { promptTokens: 1, completionTokens: 0 })).toBe(1n);
    expect(costNanos(price('1', 0, 499_999, 0), { promptTokens: 1, completionTokens: 0 })).toBe(0n);
    expect(costNanos(price('1', 0, 250_000, 250_000), { promptTokens: 1, completionTokens: 1 })).toBe(1n);
  });

  test('charges cached prompt tokens at their own price, or at the prompt price if they have none', () => {
    const cached = { ...price('1', 0), cached_prompt_nanos: 10_000_000 };
    expect(costNanos(cached, { promptTokens: 1_000, cachedTokens: 600, completionTokens: 500 })).toBe(246_000n);
    expect(costNanos(price('1', 0), { promptTokens: 1_000, cachedTokens: 600, completionTokens: 500 })).toBe(300_000n);
    // More cached tokens than prompt tokens are the runtime's mistake.
    expect(costNanos(cached, { promptTokens: 1_000, cachedTokens: 5_000, completionTokens: 0 })).toBe(10_000n);
  });

  test('is never higher with cached tokens than without: such a price is invalid', () => {
    expect(Price.safeParse({ ...price('1', 0), cached_prompt_nanos: 100_000_000 }).success).toBe(true);
    expect(Price.safeParse({ ...price('1', 0), cached_prompt_nanos: 100_000_001 }).success).toBe(false);
  });

  test('is exact for any price and count', () => {
    const tokens = fc.integer({ min: 0, max: 2 ** 31 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 }), tokens, tokens, (nanos, promptTokens, completionTokens) => {
        const exact = BigInt(nanos) * BigInt(promptTokens + completionTokens);
        const cost = costNanos(price('1', 0, nanos, nanos), { promptTokens, completionTokens });
        const error = cost * 1_000_000n - exact;
        expect(error > -500_000n && error <= 500_000n).toBe(true);
      }),
    );
  });
});

describe('the price in force', () => {
  test('is the latest that is already effective, whatever the order of the list', () => {
    const prices = [price('3', 3_000), price('1', 1_000), price('2', 2_000)];
    expect(priceAt(prices, 999)).toBeUndefined();
    expect(priceAt(prices, 1_000)?.version).toBe('1');
    expect(priceAt(prices, 2_999)?.version).toBe('2');
    expect(priceAt(prices, 9_999)?.version).toBe('3');
  });
});
