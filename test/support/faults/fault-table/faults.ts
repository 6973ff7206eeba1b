import { SECOND_MS } from '../../../../shared/time/units.ts';
import { always, DATABASE_FAULTS } from './database-faults.ts';
import { FUNCTION_FAULTS } from './function-faults.ts';
import { IDENTITY_FAULTS } from './identity-faults.ts';
import { INVENTORY_FAULTS } from './inventory-faults.ts';
import { MODEL_FAULTS } from './model-faults.ts';
import { startNewEnvironments } from './new-environments.ts';
import { SERVICE_FAULTS } from './service-faults.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

const NONE: TableFault = { name: 'None', hosts: 'all', metered: 'succeeds', begin: async () => undefined };

/** The sections of the table, in its order. */
export const TABLE_FAULTS: readonly TableFault[] = [
  NONE,
  ...DATABASE_FAULTS,
  ...MODEL_FAULTS,
  ...INVENTORY_FAULTS,
  ...SERVICE_FAULTS,
  ...IDENTITY_FAULTS,
  ...FUNCTION_FAULTS,
];

/** Begins a fault. */
export const beginFault = async (faulty: FaultyRun, fault: TableFault): Promise<void> => {
  const { coldFunctions = [], clockOffsetMs = 0 } = fault;
  await startNewEnvironments(faulty.run, coldFunctions);
  await fault.begin(faulty);
  if (clockOffsetMs !== 0) await faulty.run.controlFunctions('clock', { offset_seconds: clockOffsetMs / SECOND_MS });
};

/** Ends a fault. */
export const endFault = async (faulty: FaultyRun, fault: TableFault): Promise<void> => {
  await endFaults(faulty);
  await fault.end?.(faulty);
  await startNewEnvironments(faulty.run, fault.staleFunctions ?? []);
};

/** Sets everything that faults act on as it is without a fault. */
export const endFaults = async ({ run, proxy, failOnly }: FaultyRun): Promise<void> => {
  proxy.faults = {};
  proxy.checksTime = false;
  failOnly(always);
  await Promise.all((['sagemaker', 'container', 's3', 'sqs', 'cognito'] as const).map((server) => run.control(server)));
  await run.control('sagemaker', { cuts: 'whole' });
  await Promise.all((['clock', 'timeouts'] as const).map((path) => run.controlFunctions(path)));
};
