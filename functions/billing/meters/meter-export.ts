/** What is exported of an hour. Tokens that were cached are not among the other prompt tokens. */
export const METERS = ['prompt_tokens', 'cached_prompt_tokens', 'completion_tokens', 'requests', 'gpu_seconds', 'cost_nanos'] as const;
export type Meter = (typeof METERS)[number];

/** Usage of a customer, to be counted once. */
export interface MeterEvent {
  meter: Meter;
  /** The receiver counts events with the same identifier once. */
  identifier: string;
  customer: string;
  /** When the usage took place, in ms since the epoch. */
  atMs: number;
  /** Positive. */
  value: bigint;
}

/** What became of an event: it is counted; or it will never be accepted as it is, for the reason given. */
export type MeterResult = { accepted: true } | { accepted: false; reason: string };

/** A service that counts usage for its own invoices. */
export interface MeterExport {
  /**
   * Sends events. Those that are rejected don't stop the others.
   * @returns a result for each event, in their order
   * @throws Error if the service can't be reached or accepts nothing; some events can have been counted
   */
  send(events: readonly MeterEvent[]): Promise<MeterResult[]>;
}
