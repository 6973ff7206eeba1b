import type { DynamoDBStreamEvent } from 'aws-lambda';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createMessageQueue } from '../../shared/aws/message-queue.ts';
import { createBillingTasks } from '../../shared/billing/billing-tasks.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { createActivityStore } from '../../shared/deployments/activity-store.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { logInfo } from '../../shared/logging/log.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { createAliasStore } from '../../shared/models/alias-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createRequestRowStore } from '../../shared/observability/request-row-store.ts';
import { bucketOfKey } from '../../shared/usage/bucket.ts';
import { createDeploymentDayStore } from '../../shared/usage/deployment-day-store.ts';
import { createOrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../shared/usage/usage-store.ts';
import type { Alerts } from './alerts.ts';
import { writeRequestRows } from './request-rows.ts';
import { recompute } from './rollup.ts';
import { createSideStore } from './splits/side-store.ts';
import type { SplitDependencies } from './splits/stop-split.ts';

const database = createSdkDatabase();
const usage = createUsageStore(database, environmentVariable('USAGE_TABLE'));
const rollups = createRollupStore(database, environmentVariable('USAGE_TABLE'));
const totals = createOrganizationTotalsStore(database, environmentVariable('USAGE_TABLE'));
const deploymentDays = createDeploymentDayStore(database, environmentVariable('USAGE_TABLE'));
const requestRows = createRequestRowStore(database, environmentVariable('OBSERVABILITY_TABLE'));
const activity = createActivityStore(database, environmentVariable('DEPLOYMENTS_TABLE'));

const recordsOf = (variable: string) => createRecordTable(database, environmentVariable(variable));
const splits: SplitDependencies = {
  database,
  audit: createAuditStore(recordsOf('AUDIT_TABLE')),
  aliases: createAliasStore(database, environmentVariable('MODELS_TABLE')),
  sides: createSideStore(database, environmentVariable('USAGE_TABLE')),
  outbox: createOutbox(recordsOf('NOTIFICATIONS_TABLE')),
  now: Date.now,
};

const alertsAt = (queueUrl: string): Alerts => {
  const tasks = createBillingTasks(createMessageQueue(queueUrl));
  return { send: (task) => tasks.send(task, Date.now()) };
};
const { BILLING_QUEUE } = process.env;
const alerts = BILLING_QUEUE ? alertsAt(BILLING_QUEUE) : undefined;

// Work that has not begun this long before the function's timeout is left to the next attempt, which gets a smaller
// batch.
const RESERVE_MS = 60_000;

/**
 * Recomputes the totals of the buckets in a batch of the usage stream, and then writes the rows by which its requests
 * are searched. If any fail, Lambda sends the batch again in halves.
 */
export const handler = middy<DynamoDBStreamEvent, void>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .handler(async ({ Records }, { hasTime }) => {
    const touched = new Set(Records.map(({ dynamodb }) => dynamodb?.Keys?.usage_bucket?.S ?? ''));
    const buckets = [...touched].map(bucketOfKey);
    const now = Date.now;
    const work = [
      () => recompute({ usage, rollups, totals, deploymentDays, activity, splits, now, ...(alerts && { alerts }) }, buckets, hasTime),
      () => writeRequestRows({ requestRows, totals, now }, Records, hasTime),
    ];
    throwFailures(await inParallel(work, 1, (each) => each()));
    logInfo('rollup', { records: Records.length, buckets: buckets.length });
  });
