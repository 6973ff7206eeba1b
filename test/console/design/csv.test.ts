import { describe, expect, test } from '@jest/globals';
import { csvOf } from '../../../console/design/format/csv.ts';
import { csvLines } from '../../../shared/csv/csv.ts';

const ROWS = [
  ['plain', '-12.5', '-cmd', '=1+1', '＝1', '+1', '@sum'],
  ['a,b', 'say "hi"', '\tx', '', ' ', '12'],
];

describe('csvOf', () => {
  test('writes what the files of the API would have', () => {
    expect(csvOf(ROWS)).toBe(csvLines(ROWS));
  });

  test('quotes a text of several lines', () => {
    expect(csvOf([['two\nlines']])).toBe('"two\nlines"\r\n');
  });
});
