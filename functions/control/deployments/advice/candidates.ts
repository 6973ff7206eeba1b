import { isDeepStrictEqual } from 'node:util';
import type { ScheduleWindow } from '../../../../shared/deployments/schedule.ts';
import { MINUTE_MS, SECOND_MS } from '../../../../shared/time/units.ts';

/** The settings that decide when a deployment runs, and on how many instances. */
export interface Settings {
  /** null: it never sleeps. */
  idleSeconds: number | null;
  schedule: readonly ScheduleWindow[];
  minCopies: number;
}

// From the least that a deployment can have to a day.
const IDLE_MINUTES = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 480, 1_440] as const;
// Beside another schedule: long idle times do what windows are for.
const IDLE_MINUTES_OF_SCHEDULES = [1, 5, 15, 60] as const;
// Fewer copies must still have room for this many times the requests that were in flight on the busiest day, on average
// over its seconds in use.
const ROOM = 4;

const secondsOf = (minutes: number): number => (minutes * MINUTE_MS) / SECOND_MS;

// Half as many copies, then half of those, down to one.
const fewerCopies = (minCopies: number): number[] => {
  const fewer: number[] = [];
  for (let copies = Math.floor(minCopies / 2); copies >= 1; copies = Math.floor(copies / 2)) fewer.push(copies);
  return fewer;
};

/** The most requests that were in flight on average over a day's seconds in use; null: it is not known. */
export interface Load {
  inFlight: number | null;
  /** How many of them a copy takes. */
  perCopy: number;
}

/**
 * Returns the settings to replay, the present ones first: other idle times, other schedules with some idle times, and
 * fewer copies. At most 43.
 * @param schedules those to try, at most three
 */
export const candidatesOf = (present: Settings, schedules: readonly ScheduleWindow[][], { inFlight, perCopy }: Load): Settings[] => {
  const { idleSeconds: presentSeconds, schedule, minCopies } = present;
  const idleTimes = (minutes: readonly number[]): number[] => minutes.map(secondsOf).filter((seconds) => seconds !== presentSeconds);
  const others: (number | null)[] = [...idleTimes(IDLE_MINUTES), ...(presentSeconds === null ? [] : [null])];
  const withSchedules = [...(schedule.length > 0 ? [[]] : []), ...schedules].filter((other) => !isDeepStrictEqual(other, schedule));
  const besideSchedules = [...(presentSeconds === null ? [] : [presentSeconds]), ...idleTimes(IDLE_MINUTES_OF_SCHEDULES)];
  const hasRoom = (copies: number): boolean => inFlight !== null && inFlight * ROOM <= copies * perCopy;
  return [
    present,
    ...others.map((idleSeconds) => ({ ...present, idleSeconds })),
    ...withSchedules.flatMap((other) => besideSchedules.map((idleSeconds) => ({ ...present, idleSeconds, schedule: other }))),
    ...fewerCopies(minCopies)
      .filter(hasRoom)
      .map((copies) => ({ ...present, minCopies: copies })),
  ];
};
