import { expect, test } from '@jest/globals';
import { changeOf } from '../../../../functions/billing/rerate/ratings.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';

const rated = (cost_nanos: bigint, price_version: string, rerate?: UsageEvent['rerate']): UsageEvent =>
  ({ cost_nanos, price_version, ...(rerate && { rerate }) }) as UsageEvent;

test('finds the same costs of a rating after it was stored, also after others', () => {
  const original = rated(100n, 'one');
  const first = rated(-30n, 'two', { id: 'rr_1', from: 'one' });
  const last = { rerate: 'rr_2', from: 'two', to: 'three', costOf: () => 90n };
  const made = changeOf({ original, again: [first] }, last);
  expect(made).toEqual({ original, oldNanos: 70n, newNanos: 90n, number: 3 });
  const stored = rated(20n, 'three', { id: 'rr_2', from: 'two' });
  const later = rated(5n, 'four', { id: 'rr_3', from: 'three' });
  for (const again of [
    [first, stored],
    [first, stored, later],
  ])
    expect(changeOf({ original, again }, { ...last, costOf: () => 1n })).toEqual({ original, oldNanos: 70n, newNanos: 90n });
});
