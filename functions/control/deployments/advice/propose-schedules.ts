import { MAX_WINDOWS, type ScheduleWindow, WEEKDAYS } from '../../../../shared/deployments/schedule.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../shared/time/units.ts';
import { localMsAt } from '../../../../shared/time/zoned-time.ts';
import type { Demand } from './demand.ts';
import type { Period } from './history.ts';

const DAY_HOURS = DAY_MS / HOUR_MS;
const WEEK_HOURS = WEEKDAYS.length * DAY_HOURS;
// Zones are ahead of UTC by multiples of this.
const STEP_MS = 15 * MINUTE_MS;
// An hour of the week is in a schedule if calls came in at least this share of the weeks.
const SHARES = [0.25, 0.5, 0.75] as const;
// The first of January 1970 was a Thursday.
const EPOCH_HOURS = WEEKDAYS.indexOf('thu') * DAY_HOURS;

type Weekday = (typeof WEEKDAYS)[number];

const hourOfWeek = (localHour: number): number => (((localHour + EPOCH_HOURS) % WEEK_HOURS) + WEEK_HOURS) % WEEK_HOURS;

// For each hour of the week, the share of the weeks in which it was used.
const sharesOf = (demand: readonly Demand[], { fromMs, toMs }: Period, zone: string): number[] => {
  const used = new Set<number>();
  for (const { atMs, serviceMs } of demand)
    for (let step = Math.floor(atMs / STEP_MS); step * STEP_MS < atMs + Math.max(serviceMs, 1); step++) used.add(step * STEP_MS);
  const hours = new Map<number, boolean>();
  for (let ms = fromMs; ms < toMs; ms += STEP_MS) {
    const hour = Math.floor(localMsAt(zone, ms) / HOUR_MS);
    hours.set(hour, (hours.get(hour) ?? false) || used.has(ms));
  }
  const weeks = Array.from({ length: WEEK_HOURS }, () => ({ seen: 0, used: 0 }));
  for (const [hour, isUsed] of hours) {
    const week = weeks[hourOfWeek(hour)];
    if (!week) continue;
    week.seen++;
    if (isUsed) week.used++;
  }
  return weeks.map((week) => week.used / Math.max(week.seen, 1));
};

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

// The windows of a week's hours, those with the same times together.
const windowsOf = (hours: readonly boolean[], time_zone: string): ScheduleWindow[] => {
  const days = new Map<string, Weekday[]>();
  for (const [index, day] of WEEKDAYS.entries()) {
    const ofDay = hours.slice(index * DAY_HOURS, (index + 1) * DAY_HOURS);
    for (let from = ofDay.indexOf(true); from >= 0; ) {
      const end = ofDay.indexOf(false, from);
      const to = end < 0 ? DAY_HOURS : end;
      const times = `${clock(from)} ${clock(to)}`;
      days.set(times, [...(days.get(times) ?? []), day]);
      from = ofDay.indexOf(true, to);
    }
  }
  return [...days].map(([times, of]) => {
    const [from = '', to = ''] = times.split(' ');
    return { days: of, from, to, time_zone, min_copies: 1 };
  });
};

/**
 * Returns schedules for the hours of the week in which calls came: in a quarter of the weeks, in half of them, and in
 * three quarters. An hour between two such hours is in them, too. At most three, all different.
 * @param range whole days
 * @param zone IANA's name of the time zone of the hours
 */
export const proposeSchedules = (demand: readonly Demand[], range: Period, zone: string): ScheduleWindow[][] => {
  const shares = sharesOf(demand, range, zone);
  const proposed = new Map<string, ScheduleWindow[]>();
  for (const share of SHARES) {
    const isUsed = (hour: number): boolean => (shares[(hour + WEEK_HOURS) % WEEK_HOURS] ?? 0) >= share;
    const hours = shares.map((_, hour) => isUsed(hour) || (isUsed(hour - 1) && isUsed(hour + 1)));
    const windows = windowsOf(hours, zone);
    if (windows.length > 0 && windows.length <= MAX_WINDOWS) proposed.set(JSON.stringify(windows), windows);
  }
  return [...proposed.values()];
};
