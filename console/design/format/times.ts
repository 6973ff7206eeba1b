import { DAY_S, HOUR_S, MINUTE_S } from './units.ts';

const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [DAY_S, 'day'],
  [HOUR_S, 'hour'],
  [MINUTE_S, 'minute'],
  [1, 'second'],
];

const LOCALE = 'en';
const relative = new Intl.RelativeTimeFormat(LOCALE);
const full = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const SHOWN_AS_DATE_S = 14 * DAY_S;

/** A time in the reader's zone. @param seconds since the epoch */
export const formatTime = (seconds: number): string => full.format(seconds * 1_000);

/** A time in UTC, as bills and logs have it. @param seconds since the epoch */
export const formatUtc = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The time in UTC from which something applies; 0: always. @param seconds since the epoch */
export const formatStart = (seconds: number): string => (seconds === 0 ? 'the beginning' : formatUtc(seconds));

/** The UTC day of a time, such as `2027-01-31`. @param seconds since the epoch */
export const formatDay = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 10);

/** The Unix seconds of a UTC date, or of a date with a time; undefined for an empty text. */
export const utcSeconds = (text: string): number | undefined => {
  const milliseconds = Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text}Z`);
  return Number.isNaN(milliseconds) ? undefined : Math.floor(milliseconds / 1_000);
};

// The reader's clock is often some seconds behind the service's: what has just happened is not ahead.
const NOW_S = 10;

/** How long ago or ahead a time is, or its date if that is far. @param seconds since the epoch */
export const formatAge = (seconds: number, nowMs = Date.now()): string => {
  const away = Math.round(seconds - nowMs / 1_000);
  const size = Math.abs(away);
  if (away >= 0 && away < NOW_S) return 'now';
  if (size >= SHOWN_AS_DATE_S) return day.format(seconds * 1_000);
  const [step, unit] = STEPS.find(([least]) => size >= least) ?? [1, 'second'];
  return relative.format(Math.trunc(away / step), unit);
};

/** A duration with the unit that fits it. */
export const formatDuration = (milliseconds: number): string => {
  // Compared as they are rounded, or some would be 1000 ms, 10.00 s or 60.0 s.
  if (Math.round(milliseconds) < 1_000) return `${Math.round(milliseconds)} ms`;
  const hasHundredths = Math.round(milliseconds / 10) < 1_000;
  if (Math.round(milliseconds / 100) < 10 * MINUTE_S) return `${(milliseconds / 1_000).toFixed(hasHundredths ? 2 : 1)} s`;
  const seconds = Math.max(MINUTE_S, Math.floor(milliseconds / 1_000));
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min ${seconds % MINUTE_S} s`;
  return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / MINUTE_S)} min`;
};
