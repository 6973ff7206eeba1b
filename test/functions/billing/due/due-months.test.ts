import { describe, expect, test } from '@jest/globals';
import { dueMonths, lastClosableMonth } from '../../../../functions/billing/due/due-months.ts';

describe('a month can be closed', () => {
  test.each([
    ['2026-11-01T00:59:59.999Z', '2026-09'],
    ['2026-11-01T01:00:00.000Z', '2026-10'],
    ['2026-11-30T23:59:59.999Z', '2026-10'],
    ['2027-01-01T00:30:00.000Z', '2026-11'],
    ['2027-01-01T01:00:00.000Z', '2026-12'],
    ['2028-03-01T01:00:00.000Z', '2028-02'],
  ])('at %s: the last one is %s', (now, month) => {
    expect(lastClosableMonth(Date.parse(now))).toBe(month);
  });
});

describe('the months to close of an organization', () => {
  const created = Date.parse('2026-08-31T23:59:59Z');

  test.each([
    ['begin with the month of its creation', null, '2026-10', ['2026-08', '2026-09', '2026-10']],
    ['follow its last closed month', '2026-09', '2026-10', ['2026-10']],
    ['are none if the last one is closed', '2026-10', '2026-10', []],
    ['are none if it was created later', null, '2026-07', []],
  ])('%s', (_, lastClosed, lastClosable, months) => {
    expect(dueMonths(created, lastClosed, lastClosable)).toEqual(months);
  });

  test('are the twelve oldest of a long time, across the year', () => {
    const months = dueMonths(created, null, '2029-01');
    expect([months.length, months[0], months.at(-1)]).toEqual([12, '2026-08', '2027-07']);
  });
});
