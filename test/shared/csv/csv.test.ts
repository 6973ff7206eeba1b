import { describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { csvLines } from '../../../shared/csv/csv.ts';

describe('lines of CSV', () => {
  test.each(['two\nlines', 'two\rlines', 'two\r\nlines', 'a "quote", and a comma', ' spaces '])('keep %j in one cell', (text) => {
    expect(parse(csvLines([['id', text, null]]), { record_delimiter: '\r\n' })).toEqual([['id', text, '']]);
  });

  test.each(['=1+1', '@sum', '\t=1', '-a'])('keep %j from being a formula', (text) => {
    expect(parse(csvLines([[text]]), { record_delimiter: '\r\n' })).toEqual([[`'${text}`]]);
  });

  test('leave negative numbers as they are', () => {
    expect(csvLines([['-1.5', '12']])).toBe('-1.5,12\r\n');
  });
});
