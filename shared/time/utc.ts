/** The UTC day of an instant, such as `2026-11-21`. @param ms since the epoch */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The UTC time of day of an instant, such as `16:40`. @param ms since the epoch */
export const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
