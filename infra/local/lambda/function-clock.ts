import * as z from 'zod';
import { SECOND_MS } from '../../../shared/time/units.ts';
import type { ManagedSettings } from '../http/serve-settings.ts';

// 400 days: enough to see a year's end.
const MAX_OFFSET_SECONDS = 400 * 86_400;

const ClockSettings = z.strictObject({
  /** Seconds by which the clock of all functions is ahead of the machine's; negative: behind. */
  offset_seconds: z.int().min(-MAX_OFFSET_SECONDS).max(MAX_OFFSET_SECONDS).default(0),
});
type ClockSettings = z.output<typeof ClockSettings>;

/** The clock of the functions, from their next invocation on. Emulators and schedules keep the machine's clock. */
export interface FunctionClock {
  offsetMs(): number;
  settings: ManagedSettings<ClockSettings>;
}

export const createFunctionClock = (): FunctionClock => {
  let offsetSeconds = 0;
  return {
    offsetMs: () => offsetSeconds * SECOND_MS,
    settings: {
      schema: ClockSettings,
      set: ({ offset_seconds }) => {
        offsetSeconds = offset_seconds;
      },
      reset: () => {
        offsetSeconds = 0;
      },
      show: () => ({ offset_seconds: offsetSeconds, now: new Date(Date.now() + offsetSeconds * SECOND_MS).toISOString() }),
    },
  };
};
