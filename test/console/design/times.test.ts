import { expect, test } from '@jest/globals';
import { formatAge, formatDuration, formatUtc } from '../../../console/design/format/times.ts';

const NOW = Date.UTC(2026, 10, 26, 12);

test.each([
  [-5, '5 seconds ago'],
  [-3_700, '1 hour ago'],
  [7_200, 'in 2 hours'],
  [0, 'now'],
  // Something that the service has just made, for a reader whose clock is behind.
  [9, 'now'],
  [10, 'in 10 seconds'],
  // At noon, 47 hours away is not yesterday or tomorrow.
  [-47 * 3_600, '1 day ago'],
  [47 * 3_600, 'in 1 day'],
  [-20 * 86_400, 'Nov 6, 2026'],
])('a time that is %s seconds away is written as people say it', (seconds, text) => {
  expect(formatAge(NOW / 1_000 + seconds, NOW)).toBe(text);
});

test('a time in UTC has its seconds and its zone', () => {
  expect(formatUtc(NOW / 1_000)).toBe('2026-11-26 12:00:00 UTC');
});

test.each([
  [12.4, '12 ms'],
  [999.6, '1.00 s'],
  [1_234, '1.23 s'],
  [9_994, '9.99 s'],
  [9_996, '10.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [61_000, '1 min 1 s'],
  [7_260_000, '2 h 1 min'],
])('a duration of %s ms has the unit that fits it', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});
