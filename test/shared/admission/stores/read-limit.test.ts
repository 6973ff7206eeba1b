import { beforeEach, expect, test } from '@jest/globals';
import { createReadLimit, READS_AT_ONCE, READS_PER_SECOND } from '../../../../shared/admission/stores/read-limit.ts';

const START = 1_700_000_000_000;

let limit: ReturnType<typeof createReadLimit>;
beforeEach(() => {
  limit = createReadLimit();
});

const readsOf = (keyId: string, nowMs: number): number => {
  for (let reads = 0; ; reads++) if (limit.take(keyId, nowMs) > 0) return reads;
};

test('allows a hundred reads at once, then ten per second, and a hundred again after a pause', () => {
  expect([READS_AT_ONCE, READS_PER_SECOND]).toEqual([100, 10]);
  expect(readsOf('key_1', START)).toBe(100);
  expect(readsOf('key_1', START + 1_000)).toBe(10);
  expect(readsOf('key_1', START + 1_050)).toBe(0);
  expect(readsOf('key_1', START + 60_000)).toBe(100);
});

test('tells a rejected read when the next one is allowed, and does not make the wait longer', () => {
  readsOf('key_1', START);
  for (let i = 0; i < 5; i++) expect(limit.take('key_1', START + 30)).toBe(70);
  expect(limit.take('key_1', START + 100)).toBe(0);
});

test('counts the reads of each key separately', () => {
  readsOf('key_1', START);
  expect(readsOf('key_2', START)).toBe(100);
});

test('lets a refunded read be used again', () => {
  readsOf('key_1', START);
  limit.refund('key_1');
  expect(readsOf('key_1', START)).toBe(1);
  limit.refund('key_2');
  expect(readsOf('key_2', START)).toBe(100);
});

test('remembers ten thousand keys at most', () => {
  readsOf('key_1', START);
  for (let i = 0; i < 10_000; i++) expect(limit.take(`key_x${i}`, START)).toBe(0);
  expect(readsOf('key_1', START)).toBe(100);
});
