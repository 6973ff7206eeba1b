import { always, DATABASE_FAULTS } from './database-faults.ts';
import { INVENTORY_FAULTS } from './inventory-faults.ts';
import { MODEL_FAULTS } from './model-faults.ts';
import { startNewEnvironments } from './new-environments.ts';
import { SERVICE_FAULTS } from './service-faults.ts';
import type { FaultyRun, TableFault } from './table-fault.ts';

const NONE: TableFault = { name: 'None', metered: 'succeeds', begin: async () => undefined };

/** The sections of the table, in its order. */
export const TABLE_FAULTS: readonly TableFault[] = [NONE, ...DATABASE_FAULTS, ...MODEL_FAULTS, ...INVENTORY_FAULTS, ...SERVICE_FAULTS];

/** Begins a fault. */
export const beginFault = async (faulty: FaultyRun, fault: TableFault): Promise<void> => {
  if (fault.newEnvironments) await startNewEnvironments(faulty.run, fault.newEnvironments);
  await fault.begin(faulty);
};

/** Ends a fault. */
export const endFault = async (faulty: FaultyRun, fault: TableFault): Promise<void> => {
  await endFaults(faulty);
  await fault.end?.(faulty);
  if (fault.newEnvironments) await startNewEnvironments(faulty.run, fault.newEnvironments);
};

/** Sets everything that faults act on as it is without a fault. */
export const endFaults = async ({ run, proxy, failOnly }: FaultyRun): Promise<void> => {
  proxy.faults = {};
  failOnly(always);
  await Promise.all((['sagemaker', 'container', 's3', 'sqs', 'cognito'] as const).map((server) => run.control(server)));
  await run.control('sagemaker', { cuts: 'whole' });
};
