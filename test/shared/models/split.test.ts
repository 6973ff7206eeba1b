import { describe, expect, test } from '@jest/globals';
import { sideOf } from '../../../shared/models/split.ts';

const callers = Array.from({ length: 10_000 }, (_, i) => `org_1\nuser ${i}`);
const newAt = (percent: number, model = 'new', alias = 'gpt', among = callers) =>
  new Set(among.filter((caller) => sideOf(alias, { model, percent }, caller) === 'new'));

describe('sideOf', () => {
  test('puts the percentage of the callers on the new side', () => {
    for (const percent of [1, 5, 25, 50, 99]) expect(Math.abs(newAt(percent).size / 100 - percent)).toBeLessThan(1.5);
  });

  test('moves only the difference when the percentage changes, in both directions', () => {
    const some = callers.slice(0, 1_000);
    let smaller = new Set<string>();
    for (let percent = 1; percent < 100; percent++) {
      const larger = newAt(percent, 'new', 'gpt', some);
      expect([...smaller].filter((caller) => !larger.has(caller))).toEqual([]);
      smaller = larger;
    }
  });

  test('draws anew for another model and another alias', () => {
    const first = newAt(50);
    for (const other of [newAt(50, 'newer'), newAt(50, 'new', 'claude')]) {
      const both = [...first].filter((caller) => other.has(caller)).length;
      expect(Math.abs(both - 2_500)).toBeLessThan(250);
    }
  });

  test('returns the base for a caller that is not known', () => {
    expect(sideOf('gpt', { model: 'new', percent: 99 }, undefined)).toBe('base');
  });
});
