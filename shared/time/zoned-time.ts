import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './units.ts';

// No zone is, or was, further from UTC.
const MAX_OFFSET_MS = 15 * HOUR_MS;
// Names of zones begin with a letter; `Intl` also takes offsets, which have no daylight saving time.
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

const formats = new Map<string, Intl.DateTimeFormat>();
// Enough for all of IANA's names, and some of them in other letter case.
const MAX_FORMATS = 1_000;

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, format);
  return format;
};

/** True if the name is that of a time zone of IANA, such as `Europe/Berlin`. */
export const isTimeZone = (name: string): boolean => {
  if (!ZONE_NAME.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/**
 * How far a zone's clocks are ahead of UTC at an instant, in ms.
 * @param ms since the epoch
 * @throws RangeError for an unknown zone
 */
export const offsetMsAt = (zone: string, ms: number): number => {
  // `1/1/2026, GMT-03:30`; UTC is `GMT`.
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatOf(zone).format(ms)) ?? [];
  const offset = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS;
  return sign === '-' ? -offset : offset;
};

/** The time that a zone's clocks show at an instant, as if it were UTC, in ms. */
export const localMsAt = (zone: string, ms: number): number => ms + offsetMsAt(zone, ms);

// The second at which clocks are put forward over a local time.
const endOfGap = (zone: string, localMs: number): number => {
  let [before, after] = [localMs - MAX_OFFSET_MS, localMs + MAX_OFFSET_MS];
  while (after - before > SECOND_MS) {
    const middle = before + Math.floor((after - before) / 2 / SECOND_MS) * SECOND_MS;
    if (localMsAt(zone, middle) < localMs) before = middle;
    else after = middle;
  }
  return after;
};

/**
 * The first and the last instant at which a zone's clocks show a local time, which differ when clocks are put back. If
 * clocks are put forward over it, both are the first instant after that. A zone changes its clocks at most once in two
 * days.
 * @param localMs the local time as if it were UTC, a whole second
 */
export const instantsOf = (zone: string, localMs: number): { firstMs: number; lastMs: number } => {
  const around = [offsetMsAt(zone, localMs - DAY_MS), offsetMsAt(zone, localMs + DAY_MS)];
  const shown = around.map((offset) => localMs - offset).filter((ms) => localMsAt(zone, ms) === localMs);
  if (shown.length > 0) return { firstMs: Math.min(...shown), lastMs: Math.max(...shown) };
  const ms = endOfGap(zone, localMs);
  return { firstMs: ms, lastMs: ms };
};
