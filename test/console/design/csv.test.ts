import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { csvOf } from '../../../console/design/format/csv.ts';
import { csvLines } from '../../../shared/csv/csv.ts';
import { anyCharacter } from '../../support/any-character.ts';

const ROWS = [
  ['plain', '-12.5', '-cmd', '=1+1', '＝1', '+1', '@sum'],
  ['a,b', 'say "hi"', '\tx', '', ' ', '12'],
];

describe('csvOf', () => {
  test('writes what the files of the API would have', () => {
    expect(csvOf(ROWS)).toBe(csvLines(ROWS));
  });

  test('writes any text as they would', () => {
    const cell = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 4 }), fc.stringMatching(/^[=+\-@\t\r\n＝＋－＠'",.\d ]{0,5}$/));
    const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 4 });
    fc.assert(fc.property(rows, (some) => expect(csvOf(some)).toBe(csvLines(some))));
  });

  test('quotes a text of several lines', () => {
    expect(csvOf([['two\nlines']])).toBe('"two\nlines"\r\n');
  });
});
