import { describe, expect, test } from '@jest/globals';
import { costsOf } from '../../../../functions/control/summary/costs-section.ts';

const DOLLAR = 1_000_000_000n;
const daily = (days: Readonly<Record<string, bigint>>): Map<string, bigint> => new Map(Object.entries(days));

describe('costsOf', () => {
  test('sums today, this month, the last month, and the last month to the same day', () => {
    const costs = daily({
      '2026-10-01': DOLLAR,
      '2026-10-21': 2n * DOLLAR,
      '2026-10-22': 4n * DOLLAR,
      '2026-11-01': 8n * DOLLAR,
      '2026-11-21': 16n * DOLLAR,
    });
    expect(costsOf(costs, Date.UTC(2026, 10, 21, 12))).toMatchObject({
      month: '2026-11',
      today: '16',
      month_to_date: '24',
      last_month_to_same_day: '3',
      last_month: '7',
    });
  });

  test('takes the whole last month if it has no such day', () => {
    const costs = daily({ '2026-02-28': DOLLAR, '2026-03-31': DOLLAR });
    expect(costsOf(costs, Date.UTC(2026, 2, 31, 12))).toMatchObject({ last_month_to_same_day: '1', last_month: '1' });
  });

  test('takes December as the month before January', () => {
    expect(costsOf(daily({ '2026-12-05': DOLLAR }), Date.UTC(2027, 0, 5))).toMatchObject({ month: '2027-01', last_month: '1' });
  });

  test.each([
    ['after half of the month', Date.UTC(2026, 10, 16), 10n * DOLLAR, '20'],
    ['from parts of a day', Date.UTC(2026, 10, 2, 12), 3n * DOLLAR, '60'],
    ['exactly, although the amount is no safe integer', Date.UTC(2026, 10, 16), 2n ** 70n, '2361183241434.822606848'],
    ['rounded half up to the nano-dollar', Date.UTC(2026, 10, 5), 1n, '0.000000008'],
    ['at the first moment of the second day', Date.UTC(2026, 10, 2), DOLLAR, '30'],
  ])('forecasts the month %s', (_, nowMs, spent, forecast) => {
    expect(costsOf(daily({ '2026-11-01': spent }), nowMs).forecast).toBe(forecast);
  });

  test('makes no forecast on the first day', () => {
    expect(costsOf(daily({ '2026-11-01': DOLLAR }), Date.UTC(2026, 10, 2) - 1).forecast).toBeNull();
  });
});
