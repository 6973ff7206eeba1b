import { expect, test } from '@jest/globals';
import { strftime } from '../../../../functions/tokenizer/jinja/strftime.ts';

test('writes a date as Python does', () => {
  const date = new Date(2026, 1, 3, 15, 4, 9);
  expect(strftime(date, '%d %B %Y, %A %-d/%-m/%y %b %a %H:%M:%S %I %p %j %%')).toBe(
    '03 February 2026, Tuesday 3/2/26 Feb Tue 15:04:09 03 PM 034 %',
  );
  expect(() => strftime(date, '%U')).toThrow("The directive '%U' of strftime_now is not supported.");
});
