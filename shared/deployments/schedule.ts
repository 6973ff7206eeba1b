import * as z from 'zod';
import { DAY_MS, MINUTE_MS } from '../time/units.ts';
import { instantsOf, localMsAt } from '../time/zoned-time.ts';

/** The days of a week, in the order of `Date`'s numbers. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export const MAX_WINDOWS = 14;

/** A time of the week in which a deployment is awake with so many copies, at rest. */
export const ScheduleWindow = z.object({
  /** The days on which it begins. */
  days: z.array(z.enum(WEEKDAYS)),
  /** `HH:MM`. */
  from: z.string(),
  /** `HH:MM`, up to `24:00`. Not after `from`: it ends on the next day. */
  to: z.string(),
  /** IANA's name. */
  time_zone: z.string(),
  min_copies: z.int().min(1),
});
export type ScheduleWindow = z.infer<typeof ScheduleWindow>;

/** A window of one day: from its first instant, in ms since the epoch, until before its end. */
export interface WindowTime {
  startMs: number;
  endMs: number;
  minCopies: number;
}

/** The minutes of the day at a time such as `08:30`. */
export const minuteOf = (time: string): number => {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
};

/** The minutes from a window's beginning to its end on a day without a change of the clocks. */
export const minutesOf = ({ from, to }: Pick<ScheduleWindow, 'from' | 'to'>): number => {
  const minutes = minuteOf(to) - minuteOf(from);
  return minutes > 0 ? minutes : minutes + DAY_MS / MINUTE_MS;
};

// A window that began the day before yesterday can last until now: a night, and a day that a zone leaves out.
const DAYS_BEFORE = 2;

const startOfDay = (localMs: number): number => Math.floor(localMs / DAY_MS) * DAY_MS;

const timesOf = (window: ScheduleWindow, fromMs: number, toMs: number): WindowTime[] => {
  const { days, from, time_zone: zone, min_copies: minCopies } = window;
  const lastDay = startOfDay(localMsAt(zone, toMs)) + DAY_MS;
  const times: WindowTime[] = [];
  for (let day = startOfDay(localMsAt(zone, fromMs)) - DAYS_BEFORE * DAY_MS; day <= lastDay; day += DAY_MS) {
    const name = WEEKDAYS[new Date(day).getUTCDay()];
    if (!name || !days.includes(name)) continue;
    const localStart = day + minuteOf(from) * MINUTE_MS;
    const startMs = instantsOf(zone, localStart).firstMs;
    const endMs = instantsOf(zone, localStart + minutesOf(window) * MINUTE_MS).lastMs;
    if (startMs < endMs && startMs <= toMs && endMs > fromMs) times.push({ startMs, endMs, minCopies });
  }
  return times;
};

/**
 * The windows of a schedule that are open at some instant from `fromMs` to `toMs`, by their start. One that would begin
 * or end while clocks are put forward does so at the first instant after that; one that would begin at a time that
 * clocks show twice begins at the first, and ends at the last. @throws RangeError for an unknown zone
 */
export const windowTimes = (schedule: readonly ScheduleWindow[], fromMs: number, toMs: number): WindowTime[] =>
  schedule.flatMap((window) => timesOf(window, fromMs, toMs)).sort((one, other) => one.startMs - other.startMs || one.endMs - other.endMs);

// A window of one day of the week opens within eight days, unless clocks are put forward over all of it.
const DAYS_AHEAD = [8, 15];

/** The window that is open now, with the most copies, and the one that opens next; null: none. */
export const windowsAt = (schedule: readonly ScheduleWindow[], nowMs: number): { current: WindowTime | null; next: WindowTime | null } => {
  let times: WindowTime[] = [];
  let next: WindowTime | undefined;
  for (const days of DAYS_AHEAD) {
    times = windowTimes(schedule, nowMs, nowMs + days * DAY_MS);
    next = times.find(({ startMs }) => startMs > nowMs);
    if (next) break;
  }
  const open = times.filter(({ startMs }) => startMs <= nowMs);
  const current = open.toSorted((one, other) => other.minCopies - one.minCopies || other.endMs - one.endMs)[0];
  return { current: current ?? null, next: next ?? null };
};
