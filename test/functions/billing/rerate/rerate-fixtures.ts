import { type RerateEventsDependencies, rerateEvents } from '../../../../functions/billing/rerate/rerate-events.ts';
import { NewRerate, type RerateResource } from '../../../../functions/control/billing/rerates/rerate-resource.ts';
import { type RerateRouteDependencies as ControlRerates, createRerate } from '../../../../functions/control/billing/rerates/rerates.ts';
import { recompute } from '../../../../functions/rollup/rollup.ts';
import { shardsOf } from '../../../../shared/admission/item/limiter-item.ts';
import { eventShardsOf, shardIds } from '../../../../shared/admission/item/shards.ts';
import { createAuditStore } from '../../../../shared/audit/audit-store.ts';
import { createBilledMonthsStore } from '../../../../shared/billing/billed-months-store.ts';
import { BillingTask, createBillingTasks } from '../../../../shared/billing/billing-tasks.ts';
import { createRerateStore } from '../../../../shared/billing/rerate-store.ts';
import type { Database } from '../../../../shared/database/database.ts';
import { createRecordTable } from '../../../../shared/database/record-table.ts';
import { newRequestId } from '../../../../shared/ids/request-id.ts';
import type { Price } from '../../../../shared/prices/price.ts';
import { costNanos } from '../../../../shared/prices/price.ts';
import { bucketStarts } from '../../../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../../../shared/usage/event.ts';
import { createGpuEventStore } from '../../../../shared/usage/gpu-event-store.ts';
import { createRollupStore } from '../../../../shared/usage/rollup-store.ts';
import { createUsageStore } from '../../../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../../../support/emulators/database.ts';
import { openLimiters } from '../../../support/emulators/limiters.ts';
import { accountStores } from '../../../support/fixtures/account-stores.ts';
import { actorOf } from '../../../support/fixtures/managed-models.ts';
import { noteUse } from '../../../support/fixtures/note-use.ts';
import { rollupStores } from '../../../support/fixtures/rollups.ts';

export const DAY = '2026-11-10';
export const NOON = Date.parse(`${DAY}T12:00:00Z`);
/** Two days after the usage, when all of it is settled. */
export const NOW = Date.parse('2026-11-12T12:00:00Z');

export const WRONG: Price = {
  version: 'wrong',
  effective_at: 0,
  prompt_nanos: 10_000_000_000,
  cached_prompt_nanos: 3_000_000_001,
  completion_nanos: 33_333_333_333,
};
export const RIGHT: Price = {
  version: 'right',
  effective_at: 1,
  prompt_nanos: 1_000_000_000,
  cached_prompt_nanos: 333_333_333,
  completion_nanos: 4_000_000_007,
};
export const DEAR: Price = { version: 'dear', effective_at: 2, prompt_nanos: 70_000_000_000, completion_nanos: 90_000_000_001 };

// At the first price, three instances for 901 seconds cost 5,406,000,001 nano-dollars.
const GPU_PRICES = [
  { version: 'gpu-wrong', effective_at: 0, hour_nanos: 7_200_000_001 },
  { version: 'gpu-right', effective_at: 0, hour_nanos: 1_400_000_003 },
];

// `drain` processes all messages, including those that are added meanwhile.
const createQueue = () => {
  const sent: string[] = [];
  return {
    tasks: createBillingTasks({ send: async ({ body }) => void sent.push(body) }),
    take: () => sent.shift(),
    get length() {
      return sent.length;
    },
  };
};

/** Rerates of models with the prices WRONG, RIGHT and DEAR. @param billing what the billing function uses */
export const rerating = (database: TestDatabase, model: string, line: Database = database.database, billing: Database = line) => {
  const { tables } = database;
  const usageTable = tables.Usage as string;
  const stores = accountStores(database, line);
  const queue = createQueue();
  const rerates = createRerateStore(createRecordTable(line, tables.Billing as string));
  const limiters = openLimiters(line, tables.Keys as string);
  const gpuEvents = createGpuEventStore(line, usageTable);
  const control: ControlRerates = {
    database: line,
    audit: stores.audit,
    organizations: { get: async (id) => ({ id }) as never },
    models: {
      get: async (pool, name) => (name === model && pool === 'serverless' ? ({ prices: [WRONG, RIGHT] } as never) : undefined),
      retiredPrices: async (pool) => (pool === 'serverless' ? [DEAR] : []),
    },
    catalogue: { prices: async () => GPU_PRICES },
    rerates,
    billingTasks: queue.tasks,
  };
  const deps = {
    database: billing,
    audit: createAuditStore(createRecordTable(billing, tables.Audit as string)),
    limiters: openLimiters(billing, tables.Keys as string),
    keysTable: tables.Keys as string,
    usage: createUsageStore(billing, usageTable),
    gpuEvents: createGpuEventStore(billing, usageTable),
    rollups: createRollupStore(billing, usageTable),
    organizations: async function* () {},
    rerates: createRerateStore(createRecordTable(billing, tables.Billing as string)),
    billedMonths: createBilledMonthsStore(createRecordTable(billing, tables.Billing as string)),
    tasks: queue.tasks,
    now: () => NOW,
    hasTime: () => true,
  } satisfies RerateEventsDependencies;

  const bodyOf = (fields: Record<string, unknown>): NewRerate =>
    NewRerate.parse({
      model,
      from_version: 'wrong',
      to_version: 'right',
      start_time: Date.parse(DAY) / 1_000,
      end_time: Date.parse(DAY) / 1_000 + 86_400,
      reason: 'The price was ten times too high.',
      ...fields,
    });

  return {
    control,
    deps,
    queue,
    rerates,
    limiters,
    gpuEvents,
    admin: actorOf('admin', null, NOW),
    bodyOf,
    create: (fields: Record<string, unknown>, key?: string): Promise<RerateResource> =>
      createRerate(control, actorOf('admin', null, NOW), bodyOf(fields), key),
    /** Processes all tasks, and those that they send. */
    drain: async (with_: Partial<RerateEventsDependencies> = {}): Promise<void> => {
      for (let body = queue.take(); body !== undefined; body = queue.take()) {
        const task = BillingTask.parse(JSON.parse(body));
        if (task.task === 'rerate') await rerateEvents({ ...deps, ...with_ }, task);
      }
    },
  };
};

/** The usage of keys on the day, and its totals. */
export const usageOf = (database: TestDatabase, model: string) => {
  const stores = rollupStores(database.database, database.tables.Usage as string);
  const shardsOfKey = async (key: string): Promise<number> => shardsOf(await database.limiters.get(key));
  const bucketsOf = async (key: string) =>
    shardIds(key, eventShardsOf(await shardsOfKey(key))).flatMap((shard) => bucketStarts(DAY).map((startMs) => ({ shard, startMs })));
  return {
    /** Puts an event of a request that cost what its tokens do at a price. */
    put: async (key: string, organization: string, price: Price, fields: Partial<UsageEvent> = {}): Promise<UsageEvent> => {
      const admitted_at = fields.admitted_at ?? NOON;
      const tokens = { prompt_tokens: 1_001, cached_tokens: 37, completion_tokens: 333, ...fields };
      const event: UsageEvent = {
        request_id: newRequestId(admitted_at),
        key_id: key,
        org_id: organization,
        model,
        route: '/v1/chat/completions',
        source: 'runtime',
        outcome: 'completed',
        finish_reason: 'stop',
        time_to_first_token_ms: 5,
        duration_ms: 10,
        price_version: price.version,
        cost_nanos: costNanos(price, {
          promptTokens: tokens.prompt_tokens,
          cachedTokens: tokens.cached_tokens,
          completionTokens: tokens.completion_tokens,
        }),
        ...tokens,
        admitted_at,
      };
      await noteUse(database, key, admitted_at);
      return database.usage.putIfAbsent(event, await shardsOfKey(key));
    },
    /** All events of a key on the day. */
    events: async (key: string): Promise<UsageEvent[]> => {
      const events: UsageEvent[] = [];
      for (const { shard, startMs } of await bucketsOf(key))
        for await (const event of database.usage.listByBucket(shard, startMs)) events.push(event);
      return events;
    },
    /** Makes the totals of the day, as the stream does, and returns the day's cost. */
    total: async (key: string): Promise<bigint> => {
      await recompute(stores, await bucketsOf(key));
      const days = await Array.fromAsync(stores.rollups.listDays(key, DAY, DAY));
      return days.reduce((sum, { totals }) => sum + totals.cost_nanos, 0n);
    },
  };
};

export const costOf = (events: readonly { cost_nanos: bigint }[]): bigint => events.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0n);
