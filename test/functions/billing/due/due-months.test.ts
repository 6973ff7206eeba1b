import { describe, expect, test } from '@jest/globals';
import { dueMonth, lastClosableMonth, skippedMonths } from '../../../../functions/billing/due/due-months.ts';

describe('lastClosableMonth', () => {
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

const created = Date.parse('2026-08-31T23:59:59Z');

describe('dueMonth', () => {
  test.each([
    ['is that of its creation if none was closed', null, '2026-10', '2026-08'],
    ['follows its last closed month', '2026-08', '2026-10', '2026-09'],
    ['does not exist if the last one is closed', '2026-10', '2026-10', undefined],
    ['does not exist if it was created later', null, '2026-07', undefined],
  ])('%s', (_, lastClosed, lastClosable, month) => {
    expect(dueMonth(created, lastClosed, lastClosable)).toBe(month);
  });
});

describe('skippedMonths', () => {
  test('lists months before the last closed one, from the creation of the organization', () => {
    expect(skippedMonths(created, '2026-12', ['2026-12', '2026-10'])).toEqual(['2026-08', '2026-09', '2026-11']);
    expect(skippedMonths(created, '2026-09', ['2026-09', '2026-08'])).toEqual([]);
    expect(skippedMonths(created, '2026-08', ['2026-08'])).toEqual([]);
  });

  test('searches the last 24 months only', () => {
    const skipped = skippedMonths(created, '2029-01', ['2029-01']);
    expect([skipped.length, skipped[0], skipped.at(-1)]).toEqual([23, '2027-02', '2028-12']);
  });
});
