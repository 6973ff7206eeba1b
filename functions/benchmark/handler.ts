import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { LEVEL_MS } from '../../shared/deployments/benchmark.ts';
import { createBenchmarkStore } from '../../shared/deployments/benchmark-store.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { createDeploymentStore } from '../../shared/deployments/deployment-store.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { prefixes } from '../../shared/ids/id.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createInvoke } from '../../shared/upstream/invoke.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import { type BenchmarkDependencies, runBenchmark } from './run-benchmark.ts';

// Sent by the function `deployments`.
const Event = z.object({ benchmark: z.string().startsWith(prefixes.deployment) });

const database = createSdkDatabase();
const tableOf = (variable: string) => createRecordTable(database, environmentVariable(variable));
const deploymentRows = tableOf('DEPLOYMENTS_TABLE');

const dependencies: Omit<BenchmarkDependencies, 'hasTime'> = {
  database,
  benchmarks: createBenchmarkStore(deploymentRows),
  deployments: createDeploymentStore(deploymentRows),
  catalogue: createCatalogueStore(deploymentRows),
  audit: createAuditStore(tableOf('AUDIT_TABLE')),
  outbox: createOutbox(tableOf('NOTIFICATIONS_TABLE')),
  usage: createUsageStore(database, environmentVariable('USAGE_TABLE')),
  invoke: createInvoke(),
  installation: environmentVariable('INSTALLATION'),
  now: Date.now,
  clock: () => performance.now(),
  wait: (ms, signal) => delay(ms, undefined, { signal }),
  random: Math.random,
  newOwner: randomUUID,
};

// A level that begins has time to end, with its first requests and its last writes.
const RESERVE_MS = LEVEL_MS + 60_000;

/** Runs the benchmark of a deployment. */
export const handler = middy<unknown, void>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .handler(async (event, { hasTime }) => {
    await runBenchmark({ ...dependencies, hasTime }, Event.parse(event).benchmark);
  });
