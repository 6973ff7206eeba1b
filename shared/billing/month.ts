import * as z from 'zod';
import { DAY_MS } from '../time/units.ts';

/** A UTC month, such as `2026-10`. */
export const Month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'expected a month, such as "2026-10"');

// When a month is closed, its last requests have ended and were swept.
const CLOSE_AFTER_MS = 60 * 60_000;

/** The month of an instant. */
export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

export const startOfMonth = (month: string): number => Date.parse(`${month}-01T00:00:00Z`);

export const nextMonth = (month: string): string => monthOf(startOfMonth(month) + 31 * DAY_MS);

/** The end of a month is exclusive. */
export const endOfMonth = (month: string): number => startOfMonth(nextMonth(month));

/** The first instant at which a month can be closed: 01:00 UTC on the 1st of the next one. */
export const closableAt = (month: string): number => endOfMonth(month) + CLOSE_AFTER_MS;

/** The UTC days of a month, such as `2026-10-31`. */
export const daysOfMonth = (month: string): string[] =>
  Array.from({ length: (endOfMonth(month) - startOfMonth(month)) / DAY_MS }, (_, i) => `${month}-${String(i + 1).padStart(2, '0')}`);
