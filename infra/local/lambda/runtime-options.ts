/** Options of a function process, passed as JSON in its only argument. */
export interface RuntimeOptions {
  readonly socketPath: string;
  readonly folder: string;
  /** `<file without extension>.<export>` */
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  /** Whether the process reports the end of each invocation, so that it can be frozen. */
  readonly reportsSettled: boolean;
}

/** A message from a function process to the pool. */
export type RuntimeMessage = { readonly type: 'ready' } | { readonly type: 'settled' };

export const REQUEST_ID_HEADER = 'x-request-id';
