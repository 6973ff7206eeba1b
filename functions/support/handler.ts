import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createBillingClient } from '../../shared/billing/billing-files.ts';
import { createRecordTable } from '../../shared/database/record-table.ts';
import { createSdkDatabase } from '../../shared/database/sdk-database.ts';
import { environmentVariable } from '../../shared/environment/environment-variable.ts';
import { deadline } from '../../shared/middleware/deadline.ts';
import { middy } from '../../shared/middleware/middy.ts';
import { originalStacks } from '../../shared/middleware/original-stacks.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { createTicketStore } from '../../shared/tickets/ticket-store.ts';
import { DAY_MS } from '../../shared/time/units.ts';
import { deleteTicketFiles } from './delete-ticket-files.ts';
import { handleSchedule } from './handle-schedule.ts';

// One ticket takes less.
const RESERVE_MS = 10_000;

const database = createSdkDatabase();
const tableOf = (variable: string) => createRecordTable(database, environmentVariable(variable));
const s3 = createBillingClient();
const bucket = environmentVariable('TICKET_FILES_BUCKET');
const dependencies = {
  database,
  audit: createAuditStore(tableOf('AUDIT_TABLE')),
  tickets: createTicketStore(database, environmentVariable('TICKETS_TABLE'), tableOf('TICKETS_TABLE')),
  outbox: createOutbox(tableOf('NOTIFICATIONS_TABLE')),
  deleteFiles: (ticket: { organization: string; ticket: string }) => deleteTicketFiles(s3, bucket, ticket),
  retentionMs: Number(environmentVariable('TICKET_RETENTION_DAYS')) * DAY_MS,
  now: Date.now,
};

/** Invoked by a schedule. */
export const handler = middy<unknown, void>()
  .use(originalStacks())
  .use(deadline(RESERVE_MS))
  .handler((_event, { hasTime }) => handleSchedule({ ...dependencies, hasTime }));
