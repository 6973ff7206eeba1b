import { expect, test } from '@jest/globals';
import { crashOf } from '../../../functions/deployments/reconcile/crash-loop.ts';

const MEMORY = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';
const lines = (message: string, timesMs: readonly number[], stream = 'one') => timesMs.map((atMs) => ({ atMs, stream, message }));

test('takes three crashes with the same error for a crash loop, whatever numbers the error contains', () => {
  const [first, second, third] = ['1.50', '2.25', '3.75'].map((gib) => `ValueError: ${gib} GiB are missing`);
  const log = [...lines(first as string, [0]), ...lines(second as string, [20_000]), ...lines(third as string, [40_000])];
  expect(crashOf(log, 1)).toBe('ValueError: 1.50 GiB are missing');
  expect(crashOf(log, 2)).toBeUndefined();
});

test('counts an error that each process of a container writes as one crash', () => {
  const once = [0, 10, 300, 900, 1_400, 2_200].flatMap((atMs) => lines(`(Worker_TP pid=1) ERROR ${MEMORY}`, [atMs]));
  expect(crashOf(once, 1)).toBeUndefined();
  const again = [20_000, 40_000].flatMap((startMs) => once.map((line) => ({ ...line, atMs: line.atMs + startMs })));
  expect(crashOf([...once, ...again], 1)).toBe(MEMORY);
});

test('counts copies that crash at the same moment once each', () => {
  expect(crashOf([...lines(MEMORY, [0], 'one'), ...lines(MEMORY, [0], 'two'), ...lines(MEMORY, [0], 'three')], 3)).toBeUndefined();
});
