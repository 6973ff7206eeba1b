import * as z from 'zod';
import { minuteOf, minutesOf, type ScheduleWindow, WEEKDAYS } from '../../../shared/deployments/schedule.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { DAY_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { offsetMsAt } from '../../../shared/time/zoned-time.ts';

const DAY_MINUTES = DAY_MS / MINUTE_MS;
const WEEK_MINUTES = WEEKDAYS.length * DAY_MINUTES;
const HOUR_MINUTES = 60;
// A 12th of a year of 365 days.
const MONTH_MINUTES = 730 * HOUR_MINUTES;

/** The least cost of a schedule's windows. */
export const ScheduleCost = z.object({
  minutes_per_week: z.int().meta({ description: 'The minutes of a week in windows; those in several windows count once.' }),
  price_per_month: z.string().meta({
    description:
      'Dollars a month of 730 hours for the minimum copies in windows, on the preferred instance type at its present price, rounded to a nano-dollar. The starts before windows, requests outside of them and copies added under load come on top.',
  }),
});
export type ScheduleCost = z.infer<typeof ScheduleCost>;

// For each minute of a week in UTC, the most copies of the open windows, by the present offsets of their zones.
const copiesByMinute = (schedule: readonly ScheduleWindow[], nowMs: number): Uint8Array => {
  const copies = new Uint8Array(WEEK_MINUTES);
  for (const window of schedule) {
    const offset = Math.round(offsetMsAt(window.time_zone, nowMs) / MINUTE_MS);
    for (const day of window.days) {
      const start = WEEKDAYS.indexOf(day) * DAY_MINUTES + minuteOf(window.from) - offset + WEEK_MINUTES;
      for (let minute = start; minute < start + minutesOf(window); minute++) {
        const i = minute % WEEK_MINUTES;
        copies[i] = Math.max(copies[i] ?? 0, window.min_copies);
      }
    }
  }
  return copies;
};

interface Rates {
  /** The minimum copies while it is awake. */
  leastCopies: number;
  instancesFor: (copies: number) => number;
  hourNanos: bigint;
}

/**
 * The minutes and the least price of a schedule's windows, in a week in which no clock is changed.
 * @returns null without a schedule
 */
export const scheduleCostOf = (
  schedule: readonly ScheduleWindow[],
  { leastCopies, instancesFor, hourNanos }: Rates,
  nowMs: number,
): ScheduleCost | null => {
  if (schedule.length === 0) return null;
  const open = copiesByMinute(schedule, nowMs).filter((copies) => copies > 0);
  const instanceMinutes = open.reduce((sum, copies) => sum + BigInt(instancesFor(Math.max(copies, leastCopies))), 0n);
  // Half a nano-dollar is rounded up.
  const divisor = BigInt(HOUR_MINUTES * WEEK_MINUTES);
  const nanos = (2n * instanceMinutes * hourNanos * BigInt(MONTH_MINUTES) + divisor) / (2n * divisor);
  return { minutes_per_week: open.length, price_per_month: dollarsOf(nanos) };
};
