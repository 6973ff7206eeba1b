import { describe, expect, test } from '@jest/globals';
import { createCanaries } from './canaries.ts';

const canaries = createCanaries();
for (let number = 0; number < 1_000; number++) canaries.plant(`content ${number}`);
const word = canaries.plant('the searched content');

const encoded = (before: string, encoding: BufferEncoding): string => Buffer.from(`${before}${word} and more`).toString(encoding);

describe('canaries', () => {
  test.each([
    ['plain text', `before ${word} after`],
    ['hex', encoded('text ', 'hex')],
    ['base64', encoded('', 'base64')],
    ['base64 behind one byte', encoded('a', 'base64')],
    ['base64 behind two bytes', encoded('ab', 'base64')],
    ['base64 behind three bytes', encoded('abc', 'base64')],
    ['base64 for URLs', `a.${encoded('{"', 'base64url')}.b`],
    ['base64 of the word alone', Buffer.from(word).toString('base64')],
  ])('are found in %s', (_, text) => {
    expect(canaries.foundIn(`${'-'.repeat(100)}${text}`)).toEqual(['the searched content']);
  });

  test('are found once, and only those that were planted', () => {
    expect(canaries.foundIn(`canary-7-wren canary-7-wren ${encoded('', 'base64')} canary-99999-wren canary-8-`)).toEqual([
      'content 7',
      'the searched content',
    ]);
    expect(canaries.leaksIn(new Map([['table Usage', 'canary-7-wren']]))).toEqual([{ what: 'content 7', place: 'table Usage' }]);
  });
});
