import { DateTime } from 'luxon';
import * as z from 'zod';
import { DAY_MS } from '../time/units.ts';

const TimeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, 'expected a time such as 09:00');

// Some years of holidays: the environment of a function has 4 KB for everything.
const MAX_HOLIDAYS = 40;

/** The hours in which support works, in one time zone. */
export const BusinessHours = z
  .strictObject({
    timeZone: z.string().refine((zone) => DateTime.local().setZone(zone).isValid, 'expected a time zone such as Europe/Berlin'),
    /** 1 is Monday, 7 is Sunday. */
    days: z.array(z.int().min(1).max(7)).min(1).max(7),
    from: TimeOfDay,
    to: TimeOfDay,
    /** Days on which nobody works, such as 2026-12-25. */
    holidays: z.array(z.iso.date()).max(MAX_HOLIDAYS).default([]),
  })
  .refine(({ from, to }) => from < to, "expected 'from' before 'to'");
export type BusinessHours = z.infer<typeof BusinessHours>;

export interface BusinessTime {
  /** The end of a duration of working time, in ms. */
  after: (fromMs: number, durationMs: number) => number;
  /** The working time in between, in ms. */
  between: (fromMs: number, toMs: number) => number;
}

export const aroundTheClock: BusinessTime = {
  after: (fromMs, durationMs) => fromMs + durationMs,
  between: (fromMs, toMs) => Math.max(0, toMs - fromMs),
};

// Ten years: no clock runs longer.
const MAX_DAYS = 3_660;

// A time that the clocks skip is moved on by the skip.
const instantOf = (day: DateTime, time: string): number => {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return hour === 24 ? day.plus({ days: 1 }).startOf('day').toMillis() : day.set({ hour, minute }).toMillis();
};

/**
 * Counts time within business hours, on the clock of their zone: a working day keeps its hours when the clocks change.
 */
export const createBusinessTime = ({ timeZone, days, from, to, holidays }: BusinessHours): BusinessTime => {
  const closed = new Set(holidays);

  // Days without work are left out.
  function* shifts(fromMs: number): Generator<{ startMs: number; endMs: number }> {
    let day = DateTime.fromMillis(fromMs, { zone: timeZone }).startOf('day');
    for (let count = 0; count < MAX_DAYS; count++, day = day.plus({ days: 1 }).startOf('day')) {
      if (!days.includes(day.weekday) || closed.has(day.toISODate() ?? '')) continue;
      const startMs = Math.max(fromMs, instantOf(day, from));
      const endMs = instantOf(day, to);
      if (endMs > startMs) yield { startMs, endMs };
    }
  }

  return {
    after: (fromMs, durationMs) => {
      let leftMs = durationMs;
      for (const { startMs, endMs } of shifts(fromMs)) {
        if (leftMs <= endMs - startMs) return startMs + leftMs;
        leftMs -= endMs - startMs;
      }
      return fromMs + durationMs + MAX_DAYS * DAY_MS;
    },
    between: (fromMs, toMs) => {
      let sumMs = 0;
      for (const { startMs, endMs } of shifts(fromMs)) {
        if (startMs >= toMs) break;
        sumMs += Math.min(endMs, toMs) - startMs;
      }
      return sumMs;
    },
  };
};
