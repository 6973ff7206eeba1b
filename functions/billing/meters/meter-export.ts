/** The exported amounts of an hour. Cached tokens are not among the other prompt tokens. */
export const METERS = ['prompt_tokens', 'cached_prompt_tokens', 'completion_tokens', 'requests', 'gpu_seconds', 'cost_nanos'] as const;
export type UsageMeter = (typeof METERS)[number];

/** A customer's usage, to be counted once. */
export interface MeterEvent {
  meter: UsageMeter;
  /** The receiver counts events with the same identifier once. */
  identifier: string;
  customer: string;
  /** The time of the usage, in ms since the epoch. */
  atMs: number;
  /** Positive. */
  value: bigint;
}

/** The result of an event: counted, or rejected for good with the reason. */
export type MeterResult = { accepted: true } | { accepted: false; reason: string };

/** A service that counts usage for its own invoices. */
export interface MeterExport {
  /**
   * Sends events. A rejected event doesn't stop the others.
   * @returns a result for each event, in their order
   * @throws Error if the service can't be reached or accepts nothing; some events may have been counted
   */
  send(events: readonly MeterEvent[]): Promise<MeterResult[]>;
}
