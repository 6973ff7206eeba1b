import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { LocalClock } from '../clock/local-clock.ts';
import type { ManagedSettings } from '../http/serve-settings.ts';

// 400 days: enough to see a year's end.
const MAX_OFFSET_SECONDS = 400 * 86_400;

const ClockSettings = z.strictObject({
  /** Seconds by which the clock of all functions is ahead of the local run's; negative: behind. */
  offset_seconds: z.int().min(-MAX_OFFSET_SECONDS).max(MAX_OFFSET_SECONDS).default(0),
});
type ClockSettings = z.output<typeof ClockSettings>;

/** The clock of the functions, from their next invocation on: the local run's, and what tests make it differ by. */
export interface FunctionClock {
  offsetMs(): number;
  settings: ManagedSettings<ClockSettings>;
}

export const createFunctionClock = (clock: LocalClock): FunctionClock => {
  let offsetSeconds = 0;
  return {
    offsetMs: () => clock.offsetMs() + offsetSeconds * SECOND_MS,
    settings: {
      schema: ClockSettings,
      set: ({ offset_seconds }) => {
        offsetSeconds = offset_seconds;
      },
      reset: () => {
        offsetSeconds = 0;
      },
      show: () => ({ offset_seconds: offsetSeconds, now: new Date(clock.now() + offsetSeconds * SECOND_MS).toISOString() }),
    },
  };
};
