import { describe, expect, test } from '@jest/globals';
import { rowWindow } from '../../../console/design/data/row-window.ts';

const of = (abovePx: number, count = 10_000) => rowWindow({ count, rowPx: 40, abovePx, windowPx: 800 });

describe('the window of rows', () => {
  test('begins with the first row while the table is not scrolled past', () => {
    expect(of(-300)).toEqual({ first: 0, end: 100 });
    expect(of(0)).toEqual({ first: 0, end: 100 });
  });

  test('has what is seen and 50 rows before and after it', () => {
    expect(of(5_000 * 40)).toEqual({ first: 4_950, end: 5_100 });
    expect(of(5_049 * 40)).toEqual({ first: 4_950, end: 5_150 });
  });

  test('ends with the last row, and is never empty', () => {
    expect(of(9_990 * 40)).toEqual({ first: 9_900, end: 10_000 });
    expect(of(1e9)).toEqual({ first: 9_900, end: 10_000 });
    expect(of(1e9, 3)).toEqual({ first: 0, end: 3 });
  });
});
