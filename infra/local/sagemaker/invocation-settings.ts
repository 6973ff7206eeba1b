import * as z from 'zod';

const BEFORE_THE_HEAD = [
  'throttling',
  'service_unavailable',
  'internal_failure',
  'internal_dependency',
  'model_not_ready',
  'validation',
  'no_capacity',
  'model_error',
  'refuse',
] as const;

/** The kinds of failure after the head of the response. */
export const IN_THE_STREAM = [
  'model_stream_error',
  'internal_stream_failure',
  'error_frame',
  'socket_destroyed',
  'truncated_frame',
  'bad_checksum',
  'end_without_done',
  'silence',
] as const;

export type HeadFaultKind = (typeof BEFORE_THE_HEAD)[number];
export type StreamFaultKind = (typeof IN_THE_STREAM)[number];

/** A failure that the emulator produces instead of the container's response. */
export const Fault = z.strictObject({
  kind: z.enum([...BEFORE_THE_HEAD, ...IN_THE_STREAM]),
  /** For faults in the stream: number of payload parts before the failure. A shorter stream fails at its end. */
  after_parts: z.int().min(0).max(1_000_000).default(1),
  /** Number of requests that fail; by default all, until the settings change. */
  times: z.int().min(1).max(1_000_000).optional(),
  /** Limits the fault to one endpoint. */
  endpoint: z.string().optional(),
  /** Overrides the usual HTTP status of this kind. */
  status: z.int().min(400).max(599).optional(),
  /** For model_stream_error. */
  error_code: z.enum(['ModelInvocationTimeExceeded', 'StreamBroken']).default('ModelInvocationTimeExceeded'),
  /** For model_error: the container's status and body. */
  original_status: z.int().min(400).max(599).default(500),
  original_message: z.string().max(65_536).default('Internal Server Error'),
});
export type Fault = z.infer<typeof Fault>;

/** The settings that the control route reads and writes. */
export const Settings = z.strictObject({
  cuts: z.enum(['whole', 'random', 'bytes']).default('random'),
  /** Seed of random cuts; each request starts with it. */
  seed: z.int().min(0).max(4_294_967_295).default(1),
  fault: Fault.nullable().default(null),
});
export type Settings = z.infer<typeof Settings>;

/** A fault before the head of the response, or one in its stream. */
export type ClaimedFault =
  | { readonly at: 'head'; readonly kind: HeadFaultKind; readonly fault: Fault }
  | { readonly at: 'stream'; readonly kind: StreamFaultKind; readonly fault: Fault };

/** The current settings and the remaining count of the fault. */
export interface SettingsHolder {
  get(): Settings;
  set(settings: Settings): void;
  /**
   * Returns the fault if it applies to a request, and counts it. Faults in the stream do not apply to InvokeEndpoint.
   */
  claim(endpoint: string, streaming: boolean): ClaimedFault | undefined;
}

export const createSettings = (): SettingsHolder => {
  let settings = Settings.parse({});
  return {
    get: () => settings,
    set(next) {
      settings = next;
    },
    claim(endpoint, streaming) {
      const { fault } = settings;
      if (!fault || (fault.endpoint !== undefined && fault.endpoint !== endpoint)) return undefined;
      const head = BEFORE_THE_HEAD.find((kind) => kind === fault.kind);
      const stream = IN_THE_STREAM.find((kind) => kind === fault.kind);
      if (!head && !streaming) return undefined;
      if (fault.times !== undefined) settings = { ...settings, fault: fault.times > 1 ? { ...fault, times: fault.times - 1 } : null };
      if (head) return { at: 'head', kind: head, fault };
      return stream && { at: 'stream', kind: stream, fault };
    },
  };
};
