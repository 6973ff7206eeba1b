import { expect, test } from '@jest/globals';
import { candidatesOf, type Settings } from '../../../../../functions/control/deployments/advice/candidates.ts';
import { MAX_COPIES } from '../../../../../shared/deployments/deployment.ts';

const window = (from: string) => ({ days: ['mon' as const], from, to: '18:00', time_zone: 'UTC', min_copies: 1 });
const PRESENT: Settings = { idleSeconds: 2_400, schedule: [window('08:00')], minCopies: 9 };
const LOAD = { inFlight: 0, perCopy: 1 };

test('settings that are tried differ from one another, begin with the present ones, and are at most 43', () => {
  const schedules = ['09:00', '10:00', '11:00'].map((from) => [window(from)]);
  const most = { ...PRESENT, minCopies: MAX_COPIES };
  const candidates = candidatesOf(most, schedules, LOAD);
  expect(candidates[0]).toBe(most);
  expect(new Set(candidates.map((each) => JSON.stringify(each))).size).toBe(candidates.length);
  expect(candidates).toHaveLength(43);
});

test('the present schedule and its absence are tried, and a proposal that equals it only once', () => {
  const schedules = candidatesOf(PRESENT, [[window('08:00')]], LOAD).map(({ schedule }) => schedule.length);
  expect(schedules.filter((length) => length === 0)).toHaveLength(5);
  expect(candidatesOf({ ...PRESENT, schedule: [] }, [], LOAD).every(({ schedule }) => schedule.length === 0)).toBe(true);
});

test('windows are not tried for a deployment that would never sleep', () => {
  const never = candidatesOf({ ...PRESENT, idleSeconds: null }, [[window('09:00')]], LOAD);
  expect(never.filter(({ idleSeconds, schedule }) => idleSeconds === null && schedule !== PRESENT.schedule)).toEqual([]);
});

test.each([
  [0, [4, 2, 1]],
  [1, [4]],
  [1.01, []],
  [null, []],
])('fewer copies have room for four times the requests in flight: %p', (inFlight, copies) => {
  const fewer = candidatesOf(PRESENT, [], { inFlight, perCopy: 1 }).filter(({ minCopies }) => minCopies !== 9);
  expect(fewer.map(({ minCopies }) => minCopies)).toEqual(copies);
});
