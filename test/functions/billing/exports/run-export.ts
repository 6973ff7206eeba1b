import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { countUsage } from '../../../../functions/billing/close/counted-events.ts';
import { storeDay } from '../../../../functions/billing/close/day-file.ts';
import { readDay } from '../../../../functions/billing/close/read-day.ts';
import type { EventSource } from '../../../../functions/billing/close/sources.ts';
import { type EventExportDependencies, exportEvents } from '../../../../functions/billing/exports/export-events.ts';
import { createUploads } from '../../../../functions/billing/exports/upload.ts';
import { createMemoryStore } from '../../../../infra/local/s3/object-store.ts';
import { startS3 } from '../../../../infra/local/s3/server.ts';
import { createBilledMonthsStore } from '../../../../shared/billing/billed-months-store.ts';
import { createBillingFiles } from '../../../../shared/billing/billing-files.ts';
import { createBillingSettingsStore } from '../../../../shared/billing/billing-settings-store.ts';
import { createBillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { EventExport, exportKey } from '../../../../shared/billing/export.ts';
import { createExportStore } from '../../../../shared/billing/export-store.ts';
import { createInvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { transact } from '../../../../shared/database/transaction.ts';
import { createCatalogueStore } from '../../../../shared/deployments/catalogue-store.ts';
import { toBase62 } from '../../../../shared/ids/base62.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { createModelStore } from '../../../../shared/models/model-store.ts';
import { createOutbox } from '../../../../shared/notifications/outbox.ts';
import { dayOf } from '../../../../shared/time/utc.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { createRollupStore } from '../../../../shared/usage/rollup-store.ts';
import { addEvent, noTotals } from '../../../../shared/usage/totals.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import { bucketName } from '../../../support/assembly/assembly.ts';
import { startCheckedEndpoint } from '../../../support/emulators/checked-endpoint.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { openLimiters } from '../../../support/emulators/limiters.ts';
import { newId } from '../../../support/fixtures/new-id.ts';

const MAX_INVOCATIONS = 100;
// Long after all events, so that a day without a rollup is not read.
const NOW_MS = Date.parse('2027-01-15T12:00:00Z');

/** A new export of October 2026. */
export const newExport = (organization: string, facts: Partial<EventExport> = {}): EventExport =>
  EventExport.parse({
    id: newId('export'),
    organization,
    format: 'csv',
    from_ms: Date.parse('2026-10-01'),
    to_ms: Date.parse('2026-11-01'),
    api_key_ids: null,
    models: null,
    state: 'pending',
    created_at: NOW_MS,
    created_by: 'user_1',
    completed_at: null,
    error: null,
    upload_id: null,
    parts: [],
    tail: null,
    position: null,
    sums: {},
    failures: 0,
    restarts: 0,
    rows: 0,
    progress: 0,
    bytes: null,
    sha256: null,
    version: 1,
    ...facts,
  });

/** An event of a key; `number` distinguishes the requests of the same millisecond. */
export const eventAt = (keyId: string, at: string, number: number, facts: Partial<UsageEvent> = {}): UsageEvent => ({
  request_id: `req_${toBase62(Date.parse(at), 7)}${toBase62(number, 18)}`,
  key_id: keyId,
  org_id: 'org_1',
  model: 'small',
  route: 'chat',
  prompt_tokens: 10,
  cached_tokens: 0,
  completion_tokens: 5,
  source: 'runtime',
  outcome: 'completed',
  finish_reason: 'stop',
  admitted_at: Date.parse(at),
  time_to_first_token_ms: 20,
  duration_ms: 100,
  cost_nanos: 15_000n,
  price_version: 'price_1',
  ...facts,
});

/** The stores and the bucket of exports, in emulators. */
export const startExports = async (db: TestDatabase) => {
  const bucket = await bucketName('BillingFiles');
  const s3 = await startS3(new Set([bucket]), createMemoryStore());
  const endpoint = await startCheckedEndpoint(s3.url, 'billing');
  const clientOf = (url: string, credentials = { accessKeyId: 'a', secretAccessKey: 'b' }): S3Client =>
    new S3Client({ endpoint: url, region: 'us-east-1', credentials, maxAttempts: 1 });
  const client = clientOf(s3.url);
  const uploading = clientOf(endpoint.url, endpoint.credentials);
  const line = await db.as('billing');
  const accountsOf = (database: Database, name: string) => createRecordTable(database, db.tables[name] as string);
  const billing = accountsOf(db.database, 'Billing');
  const rollups = createRollupStore(db.database, db.tables.Usage as string);
  const gpuEvents = createGpuEventStore(db.database, db.tables.Usage as string);
  const exports = createExportStore(billing);
  const invoices = createInvoiceStore(billing);
  const settings = createBillingSettingsStore(billing);
  const sent: number[] = [];
  const dependencies: EventExportDependencies = {
    database: line,
    exports: createExportStore(accountsOf(line, 'Billing')),
    uploads: createUploads(uploading, bucket),
    limiters: openLimiters(line, db.tables.Keys as string),
    rollups: createRollupStore(line, db.tables.Usage as string),
    gpuEvents: createGpuEventStore(line, db.tables.Usage as string),
    billedMonths: createBilledMonthsStore(accountsOf(line, 'Billing')),
    files: createBillingFiles(uploading, bucket),
    usage: createUsageStore(line, db.tables.Usage as string),
    models: createModelStore(line, db.tables.Models as string),
    catalogue: createCatalogueStore(accountsOf(line, 'Deployments')),
    invoices: createInvoiceStore(accountsOf(line, 'Billing')),
    settings: createBillingSettingsStore(accountsOf(line, 'Billing')),
    nameOf: async () => 'Acme',
    outbox: createOutbox(accountsOf(line, 'Notifications')),
    tasks: createBillingTasks({ send: async () => void sent.push(sent.length) }),
    now: () => NOW_MS,
    hasTime: () => true,
  };
  return {
    dependencies,
    exports,
    invoices,
    settings,
    gpuEvents,
    client,
    s3,
    sent,

    /** Stores events and the totals of their days, as the stream would. */
    store: async (events: readonly UsageEvent[], shards = 1): Promise<void> => {
      for (const event of events) await db.usage.putIfAbsent(event, shards);
      const days = Map.groupBy(events, ({ key_id, request_id, model }) =>
        JSON.stringify([key_id, dayOf(requestTimeMs(request_id)), model]),
      );
      for (const [place, of] of days) {
        const [keyId, day, model] = JSON.parse(place) as [string, string, string | null];
        const totals = noTotals();
        for (const event of of) addEvent(totals, event);
        await rollups.put({ keyId, day, model: model ?? '-', orgId: of[0]?.org_id ?? '', totals });
      }
    },

    /** Closes the month of a day, of which an invoice has counted these events. */
    bill: async (organization: string, day: string, events: readonly UsageEvent[]): Promise<void> => {
      const sources = [...Map.groupBy(events, ({ key_id }) => key_id)].toSorted().map(
        ([id, own]): EventSource => ({
          id,
          count: async (add) => {
            for (const event of own) add(countUsage(event));
          },
        }),
      );
      const read = await readDay(organization, day, sources, { before: undefined, parallel: 1, hasTime: () => true });
      const days = { [day]: await storeDay(createBillingFiles(client, bucket), read) };
      const month = { organization, month: day.slice(0, 7), days, suspected: [], invoice: null, version: 0 };
      await transact(db.database, [createBilledMonthsStore(billing).toReplace(month)]);
    },

    create: async (created: EventExport): Promise<EventExport> => {
      await transact(db.database, exports.toCreate(created));
      return created;
    },

    /** Runs invocations until the export ends, as the queue delivers its tasks. */
    run: async ({ organization, id }: EventExport, deps: EventExportDependencies = dependencies): Promise<EventExport> => {
      for (let invocation = 0; invocation < MAX_INVOCATIONS; invocation++) {
        await exportEvents(deps, { organization, export: id });
        const row = await exports.get(organization, id);
        if (row.state === 'completed' || row.state === 'failed') return row;
      }
      throw new Error(`${id} does not end.`);
    },

    read: async (row: EventExport): Promise<string> =>
      (await (await client.send(new GetObjectCommand({ Bucket: bucket, Key: exportKey(row) }))).Body?.transformToString()) ?? '',

    close: async (): Promise<void> => {
      client.destroy();
      uploading.destroy();
      await endpoint.close();
      await s3.close();
    },
  };
};

export type TestExports = Awaited<ReturnType<typeof startExports>>;
