import * as z from 'zod';

const LONGEST_DELAY_MS = 600_000;
const DelayMs = z.number().min(0).max(LONGEST_DELAY_MS);

/**
 * How a reply breaks. `after_tokens` counts generated tokens; a shorter answer breaks at its end, and never finishes.
 * - `error`: `status` (500) and `body` before anything; a string body is sent as it is, for replies that are not JSON
 * - `die`: the process exits, before the headers without `after_tokens`
 * - `end_without_done`: the reply ends cleanly without finish, usage or `[DONE]`
 * - `destroy`: the socket breaks
 * - `error_event`: `body` (an error of vLLM's) as an event, then `[DONE]`, as vLLM does
 * - `hang`: nothing more, until the client leaves
 * `times` is how many requests it hits; all of them if absent.
 */
export const Fault = z.strictObject({
  kind: z.enum(['error', 'die', 'end_without_done', 'destroy', 'error_event', 'hang']),
  after_tokens: z.int().min(0).optional(),
  times: z.int().min(1).optional(),
  status: z.int().min(400).max(599).optional(),
  body: z.json().optional(),
});
export type Fault = z.infer<typeof Fault>;

/** What a test or a demonstration may set: delays before the first and between further tokens, usage left away, a fault. */
export const ControlSettings = z.strictObject({
  token_delay_ms: DelayMs,
  first_token_delay_ms: DelayMs,
  omit_usage: z.boolean(),
  fault: Fault.nullable(),
});
export type ControlSettings = z.infer<typeof ControlSettings>;

/** The body of `PUT /control`; what it leaves out stays as it is. */
export const ControlChange = ControlSettings.partial();
export type ControlChange = z.infer<typeof ControlChange>;

export interface Control {
  settings(): ControlSettings;
  change(change: ControlChange): ControlSettings;
  reset(): ControlSettings;
  /** The settings for one request; its fault has one time less afterwards. */
  takeSettings(): ControlSettings;
}

/** The settings to start from, and to reset to, in. */
export const createControl = (start: ControlSettings): Control => {
  let settings = start;
  return {
    settings: () => settings,
    change: (change) => (settings = ControlSettings.parse({ ...settings, ...change })),
    reset: () => (settings = start),
    takeSettings() {
      const taken = settings;
      settings = { ...settings, fault: afterOneHit(settings.fault) };
      return taken;
    },
  };
};

const afterOneHit = (fault: Fault | null): Fault | null => {
  if (fault?.times === undefined) return fault;
  return fault.times === 1 ? null : { ...fault, times: fault.times - 1 };
};
