import { createInvokeFunction, createInvokeLater } from '../../../shared/aws/invoke-function.ts';
import { createDirectDatabases } from '../../../shared/database/direct-database.ts';
import { createInvoke, createWholeInvoke } from '../../../shared/upstream/invoke.ts';
import type { CreateClients } from './clients.ts';

/** Clients of our own, which take a fraction of the SDK's CPU and start-up time; docs/decisions/0023 says why. */
export const createDirectClients: CreateClients = (reading) => ({
  ...createDirectDatabases(reading),
  areReadyAtStart: true,
  invoke: createInvoke(),
  invokeWhole: createWholeInvoke(),
  invokeFunction: createInvokeFunction(),
  createInvokeLater,
});
