import { expect, test } from '@jest/globals';
import { type Charges, costOfReplay, type LeastCopies } from '../../../../../functions/control/deployments/advice/replayed-cost.ts';
import { HOUR_MS, SECOND_MS } from '../../../../../shared/time/units.ts';
import { DAY, gpuEvent, SMALL, version } from '../../economics/economics-fixtures.ts';

const hours = (from: number, to: number) => ({ fromMs: DAY + from * HOUR_MS, toMs: DAY + to * HOUR_MS });
const least = (min: number, ...windows: LeastCopies['windows']): LeastCopies => ({ copies: { min, max: 8 }, windows });
const ranFor = (from: number, to: number, instances: number) => {
  const { fromMs, toMs } = hours(from, to);
  return gpuEvent({ started_at: fromMs, ended_at: toMs, instances, cost_nanos: 1n });
};

// A second of an instance costs a nano-dollar, unless it was charged.
const chargesOf = (events: Charges['events'], present: LeastCopies): Charges => ({
  events,
  least: present,
  instances: { generation: 1, instance_type: SMALL, phase: 'serving' },
  // Two copies fit on an instance.
  instancesFor: (copies) => Math.ceil(copies / 2),
  prices: new Map([[SMALL, [version(0, 3_600)]]]),
});
const secondsIn = (instanceHours: number): bigint => BigInt((instanceHours * HOUR_MS) / SECOND_MS);

test('the same copies cost what they were charged', () => {
  const charges = chargesOf([ranFor(0, 4, 2)], least(4));
  expect(costOfReplay([hours(0, 4)], charges, charges.least)).toEqual({ instanceSeconds: secondsIn(8), costNanos: 1n });
  expect(costOfReplay([hours(0, 4)], charges, least(4))).toEqual({ instanceSeconds: secondsIn(8), costNanos: 1n });
});

test('fewer copies need fewer instances, except where load had added some', () => {
  const charges = chargesOf([ranFor(0, 3, 2), ranFor(3, 4, 3)], least(4));
  expect(costOfReplay([hours(0, 5)], charges, least(1))).toEqual({ instanceSeconds: secondsIn(3 + 3 + 1), costNanos: secondsIn(4) + 1n });
});

test('windows have their copies, and no others', () => {
  const windowed = least(2, { ...hours(1, 3), copies: 6 });
  const charges = chargesOf([ranFor(0, 1, 1), ranFor(1, 3, 3), ranFor(3, 4, 1)], windowed);
  expect(costOfReplay([hours(0, 4)], charges, windowed).instanceSeconds).toBe(secondsIn(8));
  expect(costOfReplay([hours(0, 4)], charges, least(2)).instanceSeconds).toBe(secondsIn(4));
  // Time that was not metered has the minimum copies of the replay.
  expect(costOfReplay([hours(10, 14)], charges, least(2, { ...hours(11, 13), copies: 20 })).instanceSeconds).toBe(secondsIn(1 + 2 * 4 + 1));
});
