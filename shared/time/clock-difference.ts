import { MINUTE_MS } from './units.ts';

/** The clocks of two functions differ by less than this. */
export const MAX_CLOCK_DIFFERENCE_MS = MINUTE_MS;
