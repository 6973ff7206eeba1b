/** What the pool tells a function process, as JSON in its one argument. */
export interface RuntimeOptions {
  readonly socketPath: string;
  readonly folder: string;
  /** `<file without extension>.<export>` */
  readonly handler: string;
  readonly functionName: string;
  readonly functionArn: string;
  readonly timeoutMs: number;
  readonly memoryMiB: number;
  /** Whether the process must say when an invocation is over, so that it can be frozen. */
  readonly reportsSettled: boolean;
}

/** What a function process tells the pool. */
export type RuntimeMessage = { readonly type: 'ready' } | { readonly type: 'settled' };

export const REQUEST_ID_HEADER = 'x-request-id';
