import { expect, test } from '@jest/globals';
import { seededRandom } from '../../infra/local/sagemaker/seeded-random.ts';
import { growthOf, memoryFaults, type Sample, slopeOf } from './memory.ts';

const REQUESTS = 100_000;
const SAMPLES = 400;
const BYTES_PER_MIB = 2 ** 20;

// A heap that grows in its first fifth, rises and falls by up to 20 MiB, and leaks.
const samples = (leakedBytesPerRequest: number, requests = REQUESTS): Sample[] => {
  const random = seededRandom(1);
  return Array.from({ length: SAMPLES }, (_, i) => {
    const served = (requests * (i + 1)) / SAMPLES;
    const warm = Math.min(1, (5 * served) / requests);
    return { requests: served, mib: 80 + 40 * warm + 20 * random() + (served * leakedBytesPerRequest) / BYTES_PER_MIB };
  });
};
const kindsOf = (some: readonly Sample[]): string[] => memoryFaults(new Map([['inference', some]])).map(({ kind }) => kind);

test('reports no leak if memory grows only at first, and then rises and falls', () => {
  expect(kindsOf(samples(0))).toEqual([]);
  expect(Math.abs(slopeOf(samples(0)))).toBeLessThan(3);
});

test('finds a leak of 400 bytes per request in 100,000 requests', () => {
  expect(kindsOf(samples(400))).toEqual(['growing']);
  expect(Math.abs(slopeOf(samples(400)) - (400 * REQUESTS) / BYTES_PER_MIB)).toBeLessThan(3);
});

test('finds only a large leak in a short load', () => {
  expect(kindsOf(samples(400, 2_000))).toEqual([]);
  expect(kindsOf(samples(200_000, 2_000))).toEqual(['growing']);
  expect(growthOf(samples(200_000, 2_000))).toBeGreaterThan(100);
});

test('finds nothing without samples, as on systems without /proc', () => {
  expect(kindsOf([])).toEqual([]);
});
