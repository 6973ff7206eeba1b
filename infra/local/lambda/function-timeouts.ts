import * as z from 'zod';
import type { LambdaFunction } from '../../assembly/local-app.ts';
import type { ManagedSettings } from '../http/serve-settings.ts';

// Lambda's longest timeout.
const MAX_TIMEOUT_MS = 900_000;
const Ms = z.int().min(1).max(MAX_TIMEOUT_MS);

const TimeoutSettings = z.record(
  z.string(),
  z.strictObject({
    /** When a process is killed that is still at an invocation. Default: the template's timeout. */
    timeout_ms: Ms.optional(),
    /**
     * The time that an invocation believes to have. Default: the template's timeout. Longer than `timeout_ms`, it
     * makes a function that hangs.
     */
    remaining_ms: Ms.optional(),
  }),
);
type TimeoutSettings = z.output<typeof TimeoutSettings>;

/** How long an invocation may take, and how long it believes it may. */
export interface Timeouts {
  timeoutMs: number;
  remainingMs: number;
}

/** The timeouts of functions, from their next invocation on. */
export interface FunctionTimeouts {
  of(fn: Pick<LambdaFunction, 'shortName' | 'timeoutMs'>): Timeouts;
  /** By the short names of functions. */
  settings: ManagedSettings<TimeoutSettings>;
}

export const createFunctionTimeouts = (): FunctionTimeouts => {
  let settings: TimeoutSettings = {};
  return {
    of: ({ shortName, timeoutMs }) => {
      const { timeout_ms, remaining_ms } = settings[shortName] ?? {};
      return { timeoutMs: timeout_ms ?? timeoutMs, remainingMs: remaining_ms ?? timeoutMs };
    },
    settings: {
      schema: TimeoutSettings,
      set: (next) => {
        settings = next;
      },
      reset: () => {
        settings = {};
      },
      show: () => settings,
    },
  };
};
