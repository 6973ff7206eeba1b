import { expect, test } from '@jest/globals';
import { isTypedName } from '../../../console/design/format/typed-name.ts';

test.each([
  ['old key', 'old  key', true],
  [' old key ', 'old\u00a0key', true],
  ['old', 'old key', false],
  ['Old key', 'old key', false],
  ['', 'old key', false],
])('%j is the name %j: %j', (text, name, isSame) => {
  expect(isTypedName(text, name)).toBe(isSame);
});
