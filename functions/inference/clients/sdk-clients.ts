import { createSdkInvokeFunction, createSdkInvokeLater } from '../../../shared/aws/sdk-invoke-function.ts';
import { createSdkDatabase } from '../../../shared/database/sdk-database.ts';
import { createSdkInvoke, createSdkWholeInvoke } from '../../../shared/upstream/sdk-invoke.ts';
import type { CreateClients } from './clients.ts';

/** The AWS SDK's clients, for the setting `requestClient`. The SDK reads all items by itself. */
export const createSdkClients: CreateClients = () => ({
  // The SDK's first call imports more of the bundle, which waits for the function's module.
  areReadyAtStart: false,
  database: createSdkDatabase(),
  once: createSdkDatabase({ maxAttempts: 1 }),
  invoke: createSdkInvoke(),
  invokeWhole: createSdkWholeInvoke(),
  invokeFunction: createSdkInvokeFunction(),
  createInvokeLater: createSdkInvokeLater,
});
