import { shareInSuite } from '../support/clients/suite-run.ts';
import { startTestDatabase } from '../support/emulators/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { startUpgradeRun, type UpgradeRun } from './upgrade-run.ts';

// Only these calls write events. Admissions use others, so requests are still admitted.
const WRITES = new Set(['PutItem', 'TransactWriteItems']);

interface Upgrade {
  run: UpgradeRun;
  /** Between the functions and the database; writes of events fail if a test says so. */
  proxy: FaultProxy;
  close: () => Promise<void>;
}

const start = async (): Promise<Upgrade> => {
  const database = await startTestDatabase();
  const proxy = await startFaultProxy(database.url, { random: () => 0, mayFail: (operation) => WRITES.has(operation) });
  process.env.DYNAMODB_ENDPOINT = proxy.url;
  try {
    const run = await startUpgradeRun();
    const close = async (): Promise<void> => {
      await run[Symbol.asyncDispose]();
      await proxy.close();
      await database.close();
    };
    return { run, proxy, close };
  } finally {
    delete process.env.DYNAMODB_ENDPOINT;
  }
};

/** A local run of this version with the last release beside it, for all parts of the suite. */
export const upgrade = shareInSuite(start, ({ close }) => close());
