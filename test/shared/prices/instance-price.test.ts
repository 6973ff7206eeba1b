import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { gpuCostNanos, type InstancePrice, instancePriceAt } from '../../../shared/prices/instance-price.ts';

const price = (version: string, effective_at: number, hour_nanos = 1_410_000_000): InstancePrice => ({ version, effective_at, hour_nanos });

describe('the cost of GPU time', () => {
  test('is $0.0235 for a minute of one instance at $1.41 an hour, and twice that for two', () => {
    expect(gpuCostNanos(price('1', 0), 60, 1)).toBe(23_500_000n);
    expect(gpuCostNanos(price('1', 0), 60, 2)).toBe(47_000_000n);
  });

  test('is rounded once, half up', () => {
    expect(gpuCostNanos(price('1', 0, 1_800), 1, 1)).toBe(1n);
    expect(gpuCostNanos(price('1', 0, 1_799), 1, 1)).toBe(0n);
    expect(gpuCostNanos(price('1', 0, 900), 1, 2)).toBe(1n);
  });

  test('is exact for any price, time and number of instances', () => {
    const seconds = fc.integer({ min: 0, max: 366 * 86_400 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e15 }), seconds, fc.integer({ min: 1, max: 100 }), (nanos, time, instances) => {
        const error = gpuCostNanos(price('1', 0, nanos), time, instances) * 3_600n - BigInt(nanos) * BigInt(time) * BigInt(instances);
        expect(error > -1_800n && error <= 1_800n).toBe(true);
      }),
    );
  });
});

test('takes the latest price that is already effective, whatever the order of the list', () => {
  const prices = [price('3', 3_000), price('1', 1_000), price('2', 2_000)];
  expect(instancePriceAt(prices, 999)).toBeUndefined();
  expect(instancePriceAt(prices, 2_999)?.version).toBe('2');
  expect(instancePriceAt(prices, 9_999)?.version).toBe('3');
});
