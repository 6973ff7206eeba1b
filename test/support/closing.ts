import { type CloseDependencies, closeMonth } from '../../functions/billing/close/close-month.ts';
import { noTaxes } from '../../functions/billing/close/taxes.ts';
import { createLimiterConfigurationStore } from '../../shared/admission/limiter-configuration-store.ts';
import { newLimiterItem } from '../../shared/admission/limiter-item.ts';
import { shardId, shardOf } from '../../shared/admission/shards.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createBilledMonthsStore } from '../../shared/billing/billed-months-store.ts';
import type { BillingFiles } from '../../shared/billing/billing-files.ts';
import { createBillingSettingsStore } from '../../shared/billing/billing-settings-store.ts';
import { type BillingTask, createBillingTasks } from '../../shared/billing/billing-tasks.ts';
import type { Invoice } from '../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../shared/billing/invoice-store.ts';
import { closableAt, startOfMonth } from '../../shared/billing/month.ts';
import { createNumberStore } from '../../shared/billing/number-store.ts';
import { Seller } from '../../shared/billing/seller.ts';
import type { Database } from '../../shared/database/database.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { transact } from '../../shared/database/transaction.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { newTimedId } from '../../shared/ids/id.ts';
import { newRequestId, requestTimeMs } from '../../shared/ids/request-id.ts';
import { createModelStore, SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import type { Price } from '../../shared/prices/price.ts';
import { dayOf } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { type GpuEvent, gpuEventId } from '../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import { createOrganizationTotalsStore } from '../../shared/usage/organization-totals-store.ts';
import { createRollupStore } from '../../shared/usage/rollup-store.ts';
import { addEvent, noTotals } from '../../shared/usage/totals.ts';
import { BUCKET_MS, createUsageStore } from '../../shared/usage/usage-store.ts';
import type { TestBillingFiles } from './billing-files.ts';
import type { TestDatabase } from './database.ts';
import { CREATED_MS, noteUse } from './note-use.ts';

const MODEL_PRICES: readonly Price[] = [
  { version: 'price_1', effective_at: 0, prompt_nanos: 100_000_003, cached_prompt_nanos: 10_000_001, completion_nanos: 400_000_007 },
  { version: 'price_2', effective_at: 1, prompt_nanos: 50_000_001, completion_nanos: 200_000_003 },
];
const HOUR_PRICES = [{ version: 'price_gpu', effective_at: 0, hour_nanos: 1_410_000_000 }];
const INSTANCE_TYPE = 'ml.g5.xlarge';
export const MODEL = 'small';

const SELLER = Seller.parse({
  legal_name: 'Sluice GmbH',
  address: { lines: ['Kai 1', '20457 Hamburg'], country: 'DE' },
  version: 0,
});

const bucketOf = (keyId: string, requestId: string, shards: number, atMs: number): string =>
  `${shardId(keyId, shardOf(requestId, shards))} ${Math.floor(atMs / BUCKET_MS) * BUCKET_MS}`;

/** The stores that closing uses, over a database that can fail. */
const storesOver = (database: Database, tables: TestDatabase['tables']) => {
  const table = (name: string): string => tables[name] as string;
  const rows = (name: string) => createAccountTable(database, table(name));
  return {
    database,
    audit: createAuditStore(rows('Audit')),
    billedMonths: createBilledMonthsStore(rows('Billing')),
    invoices: createInvoiceStore(rows('Billing')),
    numbers: createNumberStore(rows('Billing')),
    settings: createBillingSettingsStore(rows('Billing')),
    outbox: createOutbox(rows('Notifications')),
    limiters: createLimiterConfigurationStore(database, table('Keys')),
    usage: createUsageStore(database, table('Usage')),
    gpuEvents: createGpuEventStore(database, table('Usage')),
    totals: createOrganizationTotalsStore(database, table('Usage')),
    rollups: createRollupStore(database, table('Usage')),
    models: createModelStore(database, table('Models')),
    catalogue: createCatalogueStore(rows('Deployments')),
  };
};

/** Organizations with usage in a real database and bucket, whose months can be closed. */
export const createClosing = async (database: TestDatabase, bucket: TestBillingFiles) => {
  const stores = storesOver(database.database, database.tables);
  /** Partitions with events. Thousands of others are empty, and each query of an emulator takes a millisecond. */
  const used = new Set<string>();
  const sent: BillingTask[] = [];
  /** An organization was created in the month that is closed first. */
  const firstMonths = new Map<string, string>();
  const model = {
    name: MODEL,
    status: 'published' as const,
    created: 0,
    context_length: 8_192,
    max_output_tokens: 4_096,
    default_output_tokens: 512,
    targets: [{ endpoint: 'e', weight: 1 }] as [{ endpoint: string; weight: number }],
    prices: [...MODEL_PRICES],
  };
  await stores.models.put(SERVERLESS_POOL, model);
  const instance = { id: INSTANCE_TYPE, accelerator: 'NVIDIA A10G', accelerators: 1, accelerator_memory_gib: 24, memory_gib: 16 };
  const type = { ...instance, prices: HOUR_PRICES, status: 'available' as const, version: 0 };
  await transact(database.database, [stores.catalogue.instanceTypes.toReplace(type)]);
  await transact(database.database, [stores.settings.toReplaceSeller(SELLER)]);

  /** The rules' dependencies in one function process; the default never fails. */
  const dependencies = (process: { database?: Database; files?: BillingFiles } & Partial<CloseDependencies> = {}): CloseDependencies => {
    const own = process.database ? storesOver(process.database, database.tables) : stores;
    const listByBucket: CloseDependencies['usage']['listByBucket'] = async function* (shard, atMs) {
      if (used.has(`${shard} ${atMs}`)) yield* own.usage.listByBucket(shard, atMs);
    };
    return {
      ...own,
      usage: { listByBucket },
      files: bucket.files,
      nameOf: async (id) => `Organization ${id}`,
      organizations: {
        getMany: async (ids) => ids.map((id) => ({ id, name: id, createdAtMs: startOfMonth(firstMonths.get(id) as string) })),
      },
      taxes: noTaxes,
      release: 'test',
      tasks: createBillingTasks({ send: async ({ body }) => void sent.push(JSON.parse(body) as BillingTask) }),
      now: () => Date.parse('2027-12-31'),
      hasTime: () => true,
      ...process,
    };
  };

  return {
    ...stores,
    files: bucket.files,
    dependencies,
    /** The tasks that were sent. */
    sent,
    /** The starts of the ten minutes in which a key with one shard has events. */
    partitionsOf: (keyId: string): number[] =>
      [...used].flatMap((place) => (place.startsWith(`${keyId} `) ? [Number(place.split(' ')[1])] : [])),

    addKey: async (
      organization: string,
      { createdMs = CREATED_MS, lastUsedMs, shards = 1 }: { createdMs?: number; lastUsedMs?: number; shards?: number } = {},
    ): Promise<string> => {
      const keyId = newTimedId('key', createdMs);
      for (let shard = 0; shard < shards; shard++) {
        const item = { ...newLimiterItem(shardId(keyId, shard), organization, { set: {} }), ...(shards > 1 && { shards }) };
        const used = lastUsedMs === undefined ? item : { ...item, last_used: lastUsedMs };
        await database.database.put({ TableName: database.tables.Keys as string, Item: used });
      }
      return keyId;
    },

    /** Stores an event; the first shard of its key has it, unless `shards` says otherwise. */
    addUsage: async (
      facts: Pick<UsageEvent, 'key_id' | 'org_id' | 'admitted_at'> & Partial<UsageEvent>,
      shards = 1,
    ): Promise<UsageEvent> => {
      const event: UsageEvent = {
        request_id: newRequestId(facts.admitted_at),
        model: MODEL,
        prompt_tokens: 100,
        cached_tokens: 0,
        completion_tokens: 10,
        source: 'runtime',
        outcome: 'completed',
        finish_reason: 'stop',
        time_to_first_token_ms: null,
        duration_ms: 1_000,
        cost_nanos: 14_001n,
        price_version: 'price_1',
        ...facts,
      };
      const [requestId = ''] = event.request_id.split('#', 1);
      used.add(bucketOf(event.key_id, requestId, shards, requestTimeMs(requestId)));
      await transact(database.database, [stores.usage.toPut(event, shards)]);
      await noteUse(database, event.key_id, event.admitted_at);
      return event;
    },

    addGpu: async (
      facts: Pick<GpuEvent, 'deployment_id' | 'org_id' | 'started_at' | 'seconds' | 'cost_nanos'> & Partial<GpuEvent>,
    ): Promise<GpuEvent> => {
      const known = { generation: 1, instance_type: INSTANCE_TYPE, instances: 1, phase: 'serving' as const, price_version: 'price_gpu' };
      const event: GpuEvent = {
        ...known,
        id: gpuEventId({ ...known, ...facts }),
        name: 'assistant',
        ended_at: facts.started_at + facts.seconds * 1_000,
        ...facts,
      };
      await transact(database.database, stores.gpuEvents.toAdd([event]));
      return event;
    },

    /** Brings the totals of organizations up to date, as the function `rollup` does. */
    rollUp: async (events: readonly UsageEvent[]): Promise<void> => {
      const rows = new Map<string, Parameters<typeof stores.totals.put>[0]>();
      for (const event of events) {
        const startMs = Date.parse(dayOf(requestTimeMs(event.request_id)));
        const place = { organization: event.org_id, span: 'day' as const, detail: 'model' as const, startMs };
        const names = { model: event.model ?? null, route: null, deployment: null };
        const id = JSON.stringify([place, names]);
        const row = rows.get(id) ?? { ...place, ...names, totals: noTotals() };
        rows.set(id, row);
        addEvent(row.totals, event);
      }
      for (const row of rows.values()) await stores.totals.put(row);
    },

    close: (organization: string, month: string, process?: Parameters<typeof dependencies>[0]): Promise<void> => {
      firstMonths.set(organization, firstMonths.get(organization) ?? month);
      return closeMonth(dependencies(process), { organization, month });
    },

    /** The only invoice of a month that is not void. */
    invoiceOf: async (organization: string, month: string): Promise<Invoice> => {
      const valid = (await stores.invoices.ofMonth(organization, month)).filter(({ state }) => state !== 'void');
      if (valid.length !== 1) throw new Error(`${organization} has ${valid.length} invoices for ${month}.`);
      return valid[0] as Invoice;
    },
  };
};

export type Closing = Awaited<ReturnType<typeof createClosing>>;

/** When a month is closed by the schedule. */
export const closingOf = (month: string) => ({ now: () => closableAt(month) });
