import { describe, expect, test } from '@jest/globals';
import { dayNumberOf, moneyRefusalOf, monthBefore, monthOf } from '../../../../shared/admission/item/spending.ts';
import { HOUR_MS } from '../../../../shared/time/units.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const none = { budgets: [], heldNanos: 0n };

describe('days and months', () => {
  test('are UTC days and months', () => {
    expect(dayNumberOf(NOON)).toBe(Date.UTC(2026, 10, 21) / 86_400_000);
    expect(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59, 999))).toBe(202_611);
    expect(monthOf(Date.UTC(2026, 11, 1))).toBe(202_612);
  });

  test('have December before January', () => {
    expect(monthBefore(202_611)).toBe(202_610);
    expect(monthBefore(202_701)).toBe(202_612);
  });
});

describe('money', () => {
  const day = { period: 'day' as const, limitNanos: 100n, countedNanos: 80n };

  test('can be spent to the last nano-dollar', () => {
    expect(moneyRefusalOf({ ...none, budgets: [day] }, 20n, NOON)).toBeUndefined();
    expect(moneyRefusalOf({ ...none, creditNanos: 20n }, 20n, NOON)).toBeUndefined();
    expect(moneyRefusalOf({ ...none, budgets: [day] }, 21n, NOON)).toMatchObject({ dimension: 'budget', period: 'day', isHeld: false });
    expect(moneyRefusalOf({ ...none, creditNanos: 20n }, 21n, NOON)).toMatchObject({ dimension: 'credit', isHeld: false });
  });

  test('admits requests that cost nothing when money is overspent', () => {
    expect(moneyRefusalOf({ ...none, budgets: [{ ...day, countedNanos: 500n }], creditNanos: -5n }, 0n, NOON)).toBeUndefined();
  });

  test('asks to wait a second for money that requests in flight can release', () => {
    expect(moneyRefusalOf({ budgets: [day], heldNanos: 1n }, 21n, NOON)).toMatchObject({ isHeld: true, retryAfterMs: 1_000 });
    expect(moneyRefusalOf({ budgets: [], creditNanos: 5n, heldNanos: 15n }, 21n, NOON)).toMatchObject({ isHeld: false });
  });

  test('is available again when its day or month is over, and has the longest wait', () => {
    const month = { period: 'month' as const, limitNanos: 100n, countedNanos: 100n };
    expect(moneyRefusalOf({ ...none, budgets: [day] }, 50n, NOON)?.retryAfterMs).toBe(12 * HOUR_MS);
    expect(moneyRefusalOf({ ...none, budgets: [day, month] }, 50n, NOON)).toMatchObject({
      period: 'month',
      retryAfterMs: (9 * 24 + 12) * HOUR_MS,
    });
    const december = Date.UTC(2026, 11, 31, 23);
    expect(moneyRefusalOf({ ...none, budgets: [month] }, 50n, december)?.retryAfterMs).toBe(HOUR_MS);
  });
});
