import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createCustomInput } from '../../../../../functions/inference/responses/tools/custom-input.ts';
import { anyCharacter } from '../../../../support/any-character.ts';

const read = (parts: readonly string[]): { deltas: string[]; input: string } => {
  const input = createCustomInput();
  const deltas = [...parts.map(input.take), input.end()].filter(Boolean);
  return { deltas, input: deltas.join('') };
};

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"quoted" \\ back\tslash 😀 é\n*** End Patch\n';
const escaped = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]|["\\]/g, (character) =>
    [...Array(character.length).keys()].map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );

describe('the input of a custom tool', () => {
  test.each([
    ['as JSON.stringify writes it', JSON.stringify({ input: PATCH })],
    ['with spaces', ` {\n "input" : ${JSON.stringify(PATCH)} }`],
    ['with every character escaped', `{"input":"${escaped(PATCH)}"}`],
    ['with fields after it', `{"input":${JSON.stringify(PATCH)},"more":1}`],
  ])('is read one character at a time: %s', (_, json) => {
    expect(read([...json].flatMap((character) => character.split(''))).input).toBe(PATCH);
    expect(read([json]).input).toBe(PATCH);
  });

  test('is sent as it is written, not at the end', () => {
    const input = createCustomInput();
    expect([input.take('{"inp'), input.take('ut": "*** Be'), input.take('gin\\'), input.take('nA"'), input.take('}'), input.end()]).toEqual(
      ['', '*** Be', 'gin', '\nA', '', ''],
    );
  });

  test('has both halves of a character in one delta', () => {
    expect(read(['{"input":"\\ud83d', '\\ude00"}']).deltas).toEqual(['😀']);
    expect(read(['{"input":"\\ud83d"}']).deltas).toEqual(['\ufffd']);
  });

  test.each([
    ['the text by itself', '*** Begin Patch\n', '*** Begin Patch\n'],
    ['another field first', '{"more":1,"input":"x"}', 'x'],
    ['no input', '{"patch":"x"}', '{"patch":"x"}'],
    ['an input that is no text', '{"input":["x"]}', '{"input":["x"]}'],
    ['JSON that is cut off before its text', '{"inp', '{"inp'],
    ['nothing', '', ''],
  ])('is one delta at the end if the model wrote %s', (_, written, expected) => {
    expect(read(written.split(''))).toEqual({ deltas: expected ? [expected] : [], input: expected });
  });

  test('keeps what came before it was cut off', () => {
    expect(read(['{"input":"ab\\u00']).input).toBe('ab');
  });

  test('accepts line breaks and escapes that JSON does not have', () => {
    expect(read(['{"input":"a\nb\\$c\\u12xy"}']).input).toBe('a\nb$c\\u12xy');
  });

  test('is the same however it is split', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.infiniteStream(fc.integer({ min: 1, max: 7 })), (text, sizes) => {
        const json = JSON.stringify({ input: text });
        const parts: string[] = [];
        for (let at = 0; at < json.length; ) {
          const size = sizes.next().value as number;
          parts.push(json.slice(at, at + size));
          at += size;
        }
        const { deltas, input } = read(parts);
        expect(input).toBe(text.toWellFormed());
        for (const delta of deltas) expect(delta.isWellFormed()).toBe(true);
      }),
    );
  });
});
