import { expect, test } from '@jest/globals';
import { createCutter } from '../../../../infra/local/sagemaker/chunk-cuts.ts';

const chunks = Array.from({ length: 400 }, (_unused, index) => Buffer.from(`data: {"token":"é${index}"}\n\n`));
const parts = (cuts: 'whole' | 'random' | 'bytes', seed = 1): Buffer[] => chunks.flatMap(createCutter(cuts, seed));

test.each(['whole', 'random', 'bytes'] as const)('%s parts contain all bytes of the container', (cuts) => {
  expect(Buffer.concat(parts(cuts))).toEqual(Buffer.concat(chunks));
});

test('whole gives one part per chunk, and bytes one part per byte', () => {
  expect(parts('whole')).toEqual(chunks);
  expect(new Set(parts('bytes').map(({ length }) => length))).toEqual(new Set([1]));
});

test('random splits about one chunk in four, the same ones for the same seed', () => {
  const cut = parts('random').length - chunks.length;
  expect(cut).toBeGreaterThan(60);
  expect(cut).toBeLessThan(140);
  expect(parts('random')).toEqual(parts('random'));
  expect(parts('random', 2)).not.toEqual(parts('random'));
  expect(parts('random').every(({ length }) => length > 0)).toBe(true);
});
