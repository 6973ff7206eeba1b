import * as z from 'zod';
import { MAX_COPIES } from '../../../shared/deployments/deployment.ts';
import { MAX_WINDOWS, type ScheduleWindow, WEEKDAYS } from '../../../shared/deployments/schedule.ts';
import { InvalidValue } from '../../../shared/http/errors.ts';
import { isTimeZone } from '../../../shared/time/zoned-time.ts';

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const MAX_ZONE_CHARACTERS = 64;

const Window = z
  .strictObject({
    days: z
      .array(z.enum(WEEKDAYS))
      .min(1)
      .max(WEEKDAYS.length)
      .refine((days) => new Set(days).size === days.length, 'expected every day once')
      .meta({ description: 'The days on which it opens.', examples: [['mon', 'tue', 'wed', 'thu', 'fri']] }),
    from: z
      .string()
      .regex(TIME, 'expected a time from 00:00 to 23:59, such as 08:30')
      .meta({ description: 'When it opens, as the clocks of its time zone show it.', examples: ['08:00'] }),
    to: z
      .string()
      .refine((time) => TIME.test(time) || time === '24:00', 'expected a time from 00:00 to 24:00, such as 18:00')
      .meta({ description: 'When it ends: on the same day or, if it is not after `from`, on the next one.', examples: ['18:00'] }),
    time_zone: z
      .string()
      .max(MAX_ZONE_CHARACTERS)
      .refine(isTimeZone, 'expected the IANA name of a time zone, such as Europe/Berlin or UTC')
      .meta({ description: 'The IANA name of its time zone.', examples: ['Europe/Berlin'] }),
    min_copies: z
      .int()
      .min(1)
      .max(MAX_COPIES)
      .default(1)
      .meta({ description: 'The minimum number of copies while it is open, at most `copies.max`.' }),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], message: 'expected another time than from; a whole day is 00:00 to 24:00' });

/** The windows of a deployment's schedule, as its owner sets them. */
export const ScheduleFields = z.array(Window).max(MAX_WINDOWS, `expected at most ${MAX_WINDOWS} windows`).meta({
  description:
    "Times of the week in which the deployment doesn't sleep. It starts before a window opens, by the time that nine of ten of its starts don't exceed, so that it is ready then. Outside of them it sleeps and wakes as without. A stopped deployment stays stopped.",
});

/**
 * @param isGiven true if the request has the schedule; otherwise it has the copies
 * @throws 400 if a window has more copies than the deployment can have
 */
export const checkSchedule = (schedule: readonly ScheduleWindow[], { max }: { max: number }, isGiven: boolean): void => {
  const index = schedule.findIndex(({ min_copies }) => min_copies > max);
  if (index < 0) return;
  throw isGiven
    ? new InvalidValue(`schedule[${index}].min_copies`, `expected at most copies.max (${max})`)
    : new InvalidValue('copies.max', `expected at least min_copies of each window of the schedule (${schedule[index]?.min_copies})`);
};
