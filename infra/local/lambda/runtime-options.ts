/** Options of a function process, passed as JSON in its only argument. */
export interface RuntimeOptions {
  socketPath: string;
  folder: string;
  /** `<file without extension>.<export>` */
  handler: string;
  functionName: string;
  functionArn: string;
  memoryMiB: number;
  /** True if the process reports the end of each invocation, so that it can be frozen. */
  reportsSettled: boolean;
}

/** A message from a function process to the pool. */
export type RuntimeMessage = { readonly type: 'ready' } | { readonly type: 'settled' };

export const REQUEST_ID_HEADER = 'x-request-id';
/** How far the clock of an invocation is from the machine's, in milliseconds. */
export const CLOCK_OFFSET_HEADER = 'x-clock-offset-ms';
/** The time that an invocation believes to have, in milliseconds. */
export const REMAINING_HEADER = 'x-remaining-ms';
