import * as z from 'zod';
import { BatchTimes } from './batch.ts';

const LONGEST_DELAY_MS = 600_000;
const DelayMs = z.number().min(0).max(LONGEST_DELAY_MS);

/**
 * A fault breaks a response after `after_tokens` generated tokens, or at the end of a shorter answer, which then has
 * no finish reason.
 * - `error`: responds with `status` (default 500) and `body` before validating the request; sends a string body as
 * plain text
 * - `die`: exits the process; without `after_tokens`, before validating the request
 * - `end_without_done`: ends the response cleanly without finish reason, usage or `[DONE]`
 * - `destroy`: breaks the connection
 * - `error_event`: sends `body` (default: vLLM's error body) as an event, then `[DONE]`, as vLLM does
 * - `hang`: sends nothing more until the client disconnects It applies to the next `times` requests, or to all
 * requests if `times` is absent.
 */
export const Fault = z.strictObject({
  kind: z.enum(['error', 'die', 'end_without_done', 'destroy', 'error_event', 'hang']),
  after_tokens: z.int().min(0).optional(),
  times: z.int().min(1).optional(),
  status: z.int().min(400).max(599).optional(),
  body: z.json().optional(),
});
export type Fault = z.infer<typeof Fault>;

/** Settings that tests and demos can change at run time. */
export const ControlSettings = z.strictObject({
  token_delay_ms: DelayMs,
  first_token_delay_ms: DelayMs,
  /** In place of both delays, for models that generate text; null: requests don't slow each other down. */
  batch: BatchTimes.nullable(),
  omit_usage: z.boolean(),
  fault: Fault.nullable(),
});
export type ControlSettings = z.infer<typeof ControlSettings>;

/** The body of `PUT /control`. Absent fields keep their values. */
export const ControlChange = ControlSettings.partial();
export type ControlChange = z.infer<typeof ControlChange>;

export interface Control {
  settings(): ControlSettings;
  /** Both return the new settings. */
  change(change: ControlChange): ControlSettings;
  reset(): ControlSettings;
  /** Returns the settings for one request and decrements `times` of their fault. */
  takeSettings(): ControlSettings;
}

/** Creates the control with the settings to start with and to reset to. */
export const createControl = (start: ControlSettings): Control => {
  let settings = start;
  return {
    settings: () => settings,
    change: (change) => (settings = ControlSettings.parse({ ...settings, ...change })),
    reset: () => (settings = start),
    takeSettings() {
      const taken = settings;
      settings = { ...settings, fault: afterOneRequest(settings.fault) };
      return taken;
    },
  };
};

const afterOneRequest = (fault: Fault | null): Fault | null => {
  if (fault?.times === undefined) return fault;
  return fault.times === 1 ? null : { ...fault, times: fault.times - 1 };
};
