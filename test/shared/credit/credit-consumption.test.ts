import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { remainingOfGrants } from '../../../shared/credit/credit-consumption.ts';
import type { Grant } from '../../../shared/credit/credit-store.ts';
import { DAY_MS } from '../../../shared/time/units.ts';

const FIRST = Date.UTC(2026, 9, 1);

const dayAt = (day: number): number => FIRST + day * DAY_MS;
const nameOf = (day: number): string => new Date(dayAt(day)).toISOString().slice(0, 10);

// `day` counts from the first one.
const entry = (number: number, day: number, amount: number, expiresOn?: number): Grant => ({
  organization: 'org_1',
  number,
  amount_nanos: BigInt(amount),
  actor: 'finance',
  reason: 'prepayment',
  granted_at: dayAt(day) + 1_000,
  ...(expiresOn !== undefined && { expires_at: dayAt(expiresOn) }),
});

const costsOf = (costs: Record<number, number>): Map<string, bigint> =>
  new Map(Object.entries(costs).map(([day, nanos]) => [nameOf(Number(day)), BigInt(nanos)]));

const left = (entries: readonly Grant[], costs: Record<number, number>, day: number) =>
  Object.fromEntries([...remainingOfGrants(entries, costsOf(costs), dayAt(day))].map(([number, nanos]) => [number, Number(nanos)]));

describe('remainingOfGrants', () => {
  test('uses the grant that expires first, in whatever order they were granted', () =>
    expect(left([entry(1, 0, 100), entry(2, 1, 50, 10), entry(3, 1, 50, 5)], { 2: 70 }, 5)).toEqual({ 1: 100, 2: 30, 3: 0 }));

  test('uses grants that expire together in the order of their numbers', () =>
    expect(left([entry(1, 0, 40, 9), entry(2, 0, 40, 9)], { 1: 50 }, 9)).toEqual({ 1: 0, 2: 30 }));

  test('uses no grant before the day on which it is made, nor from the day on which it expires', () => {
    expect(left([entry(1, 0, 100), entry(2, 3, 100, 6)], { 2: 10, 3: 20 }, 6)).toEqual({ 1: 90, 2: 80 });
    expect(left([entry(1, 0, 100), entry(2, 0, 100, 6)], { 5: 10, 6: 20 }, 8)).toEqual({ 1: 80, 2: 90 });
  });

  test('counts a deduction as use, and an expiry only against its own grant', () => {
    const expiry = { ...entry(3, 5, -60), expired_grant: 2 };
    expect(left([entry(1, 0, 100), entry(2, 0, 100, 5), expiry, entry(4, 6, -30)], { 1: 40 }, 8)).toEqual({ 1: 70, 2: 0 });
  });

  test('takes usage of an earlier day that comes after an expiry from other grants', () => {
    const expiry = { ...entry(3, 5, -60), expired_grant: 2 };
    // 40 were used when 60 expired; 7 more came later.
    expect(left([entry(1, 0, 100), entry(2, 0, 100, 5), expiry], { 1: 47 }, 8)).toEqual({ 1: 93, 2: 0 });
  });

  test('takes usage that exceeds the grants of a day from the next grant', () =>
    expect(left([entry(1, 0, 100), entry(2, 4, 100)], { 1: 130 }, 6)).toEqual({ 1: 0, 2: 70 }));

  test('ignores costs from that day on', () => expect(left([entry(1, 0, 100, 3)], { 1: 10, 3: 50 }, 3)).toEqual({ 1: 90 }));

  test('never creates or loses credit: grants equal the rest plus the used credit, unless use exceeds them', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ day: fc.nat(19), amount: fc.integer({ min: 1, max: 1_000 }) }), { minLength: 1, maxLength: 6 }),
        fc.dictionary(fc.nat(19).map(String), fc.nat(400)),
        (drafts, costs) => {
          const entries = drafts.map(({ day, amount }, i) => entry(i + 1, day, amount));
          const rest = [...remainingOfGrants(entries, costsOf(costs), dayAt(20)).values()].reduce((sum, nanos) => sum + nanos, 0n);
          const granted = BigInt(drafts.reduce((sum, { amount }) => sum + amount, 0));
          const used = BigInt(Object.values(costs).reduce((sum, cost) => sum + cost, 0));
          // Every grant is made by the last day, so debts are paid.
          expect(rest).toBe(used > granted ? 0n : granted - used);
        },
      ),
    ));
});
