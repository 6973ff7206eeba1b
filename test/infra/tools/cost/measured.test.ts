import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { FURTHER_EVENT_READS, REQUEST_WRITES, TOTALS } from '../../../../infra/tools/cost/measured.ts';

const metering = readFileSync(path.join(import.meta.dirname, '../../../../docs/metering.md'), 'utf8');

// Reads a row of a table in docs/metering.md.
const thousandthsOf = (title: string): number[] => {
  const row = metering.split('\n').find((line) => line.startsWith(`| ${title} `)) ?? '';
  return row
    .split('|')
    .slice(2, -1)
    .map((cell) => Math.round(Number(cell.replace('$', '')) * 1_000));
};

test('the units of a request and of totals are those that docs/metering.md has from the bench', () => {
  expect(thousandthsOf('plain, or with budgets')[0]).toBe(REQUEST_WRITES.plain);
  expect(thousandthsOf('of an organization with money')[0]).toBe(REQUEST_WRITES.prepaid);
  expect(thousandthsOf('one a minute').slice(0, 2)).toEqual([TOTALS.writes, TOTALS.reads]);
});

test('one request a second reads as many units as was measured', () => {
  const [, reads = 0] = thousandthsOf('one a second');
  expect((TOTALS.reads + 59 * FURTHER_EVENT_READS) / 60).toBeCloseTo(reads, -1);
});
