import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  downloadDisposition,
  EXTENSIONS,
  FILE_TYPES,
  hasExtensionOf,
  nameFault,
} from '../../../../../functions/control/tickets/attachments/file-name.ts';
import { anyCharacter } from '../../../../support/any-character.ts';

const HEADER = /^attachment; filename="([ -~]*)"; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*)$/;

test('accepted names fit a header of one line, without a path or an invisible character', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (name) => {
      fc.pre(nameFault(name) === undefined);
      const [, plain = '', extended = ''] = HEADER.exec(downloadDisposition(name)) ?? [];
      expect(decodeURIComponent(extended)).toBe(name);
      expect(plain).not.toMatch(/["\\/%]/);
      expect(name).not.toMatch(/[\p{C}\\/]/u);
    }),
    { numRuns: 2_000 },
  );
});

test('unpaired surrogates and marks that reverse the text are rejected', () => {
  for (const name of [
    'a\ud800.log',
    'a\udc00.log',
    ...[...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c'].map((mark) => `a${mark}.log`),
  ])
    expect(nameFault(name)).toMatch(/invisible/);
});

test('no extension is one of two types, and none is that of a page or a program', () => {
  const all = Object.values(EXTENSIONS).flat();
  expect(new Set(all).size).toBe(all.length);
  for (const extension of ['html', 'htm', 'svg', 'xml', 'js', 'exe', 'bat', 'lnk', 'docm'])
    for (const type of FILE_TYPES) expect(hasExtensionOf(`a.${extension}`, type)).toBe(false);
});
