/** Milliseconds of a unit of time; a day is one of UTC, which has no leap seconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const DAY_SECONDS = DAY_MS / SECOND_MS;

/** A time in ms since the epoch as Unix time in whole seconds, rounded down. */
export const unixSeconds = (ms: number): number => Math.floor(ms / SECOND_MS);
