import type { InvokeFunction, InvokeLater } from '../../../shared/aws/invoke-function.ts';
import type { Database } from '../../../shared/database/database.ts';
import type { createItemReader } from '../../../shared/database/item-reader.ts';
import type { Invoke } from '../../../shared/upstream/invocation.ts';

/** The clients for AWS calls of a request. Region, credentials and endpoints come from the environment. */
export interface RequestClients {
  /** Retries calls. */
  database: Database;
  /** Never retries a call. */
  once: Database;
  /** True if the clients can be called while the function's module is still evaluated. */
  areReadyAtStart: boolean;
  invoke: Invoke;
  /** For replies that are read whole. */
  invokeWhole: Invoke;
  invokeFunction: InvokeFunction;
  createInvokeLater: () => InvokeLater;
}

export type CreateClients = (reading: { readItem: ReturnType<typeof createItemReader> }) => RequestClients;
