import { type CloseDependencies, closeMonth } from '../../functions/billing/close/close-month.ts';
import { noTaxes } from '../../functions/billing/close/taxes.ts';
import { expireCredit } from '../../functions/billing/credit-expiry/expire-credit.ts';
import { type RerateDependencies, rerateEvents } from '../../functions/billing/rerate/rerate-events.ts';
import { type RerateDependencies as ControlRerates, createRerate } from '../../functions/control/billing/rerates/rerates.ts';
import { recompute } from '../../functions/rollup/rollup.ts';
import { limitConfiguration, newLimiterItem } from '../../shared/admission/limiter-item.ts';
import { shardIds } from '../../shared/admission/shards.ts';
import { createAuditStore } from '../../shared/audit/audit-store.ts';
import { createBilledMonthsStore } from '../../shared/billing/billed-months-store.ts';
import type { BillingFiles } from '../../shared/billing/billing-files.ts';
import { createBillingSettingsStore } from '../../shared/billing/billing-settings-store.ts';
import { BillingTask, createBillingTasks } from '../../shared/billing/billing-tasks.ts';
import { createCreditNoteStore } from '../../shared/billing/credit-note-store.ts';
import type { Invoice } from '../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../shared/billing/invoice-store.ts';
import { createNumberStore } from '../../shared/billing/number-store.ts';
import { createRerateStore } from '../../shared/billing/rerate-store.ts';
import { Seller } from '../../shared/billing/seller.ts';
import { createCreditStore } from '../../shared/credit/credit-store.ts';
import { inParallel, throwFailures } from '../../shared/database/in-parallel.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { transact, type Write } from '../../shared/database/transaction.ts';
import { createCatalogueStore } from '../../shared/deployments/catalogue-store.ts';
import { SERVERLESS_POOL } from '../../shared/models/model-store.ts';
import { createOutbox } from '../../shared/notifications/outbox.ts';
import { gpuCostNanos } from '../../shared/prices/instance-price.ts';
import { costNanos, type Price } from '../../shared/prices/price.ts';
import { bucketOfKey } from '../../shared/usage/bucket.ts';
import type { UsageEvent } from '../../shared/usage/event.ts';
import { type GpuEvent, gpuEventId } from '../../shared/usage/gpu-event.ts';
import { createGpuEventStore } from '../../shared/usage/gpu-event-store.ts';
import type { UsageStore } from '../../shared/usage/usage-store.ts';
import type { TestDatabase } from '../support/database.ts';
import { grantCredit } from '../support/grant-credit.ts';
import { actorOf } from '../support/managed-models.ts';
import { rollupStores } from '../support/rollups.ts';
import type { GpuTime, Request, Script, Step, TokenPrice } from './script.ts';

const PARALLEL = 2;
/** Writes of a transaction. */
const BATCH = 100;
/** Events of a transaction with their sums, and the credit. */
const GPU_BATCH = 20;
/** Every so many requests are settled twice. */
const REPEATED = 997;
/** Every so many records of the stream arrive twice. */
const REPEATED_BUCKETS = 29;
const MS = 1_000;

const SELLER = Seller.parse({
  legal_name: 'Sluice GmbH',
  address: { lines: ['Kai 1', '20457 Hamburg'], country: 'DE' },
  tax_id: 'DE123456789',
  version: 0,
});

const inBatches = <Element>(elements: readonly Element[], size: number): Element[][] =>
  Array.from({ length: Math.ceil(elements.length / size) }, (_, i) => elements.slice(i * size, (i + 1) * size));

const priceOf = ({ version, effectiveMs, prompt, cached, completion }: TokenPrice): Price => ({
  version,
  effective_at: effectiveMs,
  prompt_nanos: Number(prompt),
  ...(cached !== undefined && { cached_prompt_nanos: Number(cached) }),
  completion_nanos: Number(completion),
});

/** Files in memory, which are written once. */
const createFiles = (): BillingFiles => {
  const files = new Map<string, Buffer>();
  return {
    put: async (key, content) => void files.set(key, Buffer.from(content)),
    get: async (key) => {
      const content = files.get(key);
      if (!content) throw new Error(`There is no file ${key}.`);
      return content;
    },
  };
};

/** Does what a script says with the code of the service, in the tables of an emulator. */
export const openWorld = async ({ database, tables, models, limiters }: TestDatabase, script: Script) => {
  const rows = (name: string) => createAccountTable(database, tables[name] as string);
  const usageTable = tables.Usage as string;
  const rollups = rollupStores(database, usageTable);
  const gpuEvents = createGpuEventStore(database, usageTable);
  const catalogue = createCatalogueStore(rows('Deployments'));
  const audit = createAuditStore(rows('Audit'));
  const outbox = createOutbox(rows('Notifications'));
  const credit = createCreditStore(database, tables.Accounts as string);
  const billedMonths = createBilledMonthsStore(rows('Billing'));
  const invoices = createInvoiceStore(rows('Billing'));
  const creditNotes = createCreditNoteStore(rows('Billing'));
  const settings = createBillingSettingsStore(rows('Billing'));
  const rerates = createRerateStore(rows('Billing'));
  const files = createFiles();
  const sent: string[] = [];
  const tasks = createBillingTasks({ send: async ({ body }) => void sent.push(body) });
  const shardsOf = new Map(script.keys.map(({ id, shards }) => [id, shards]));

  let nowMs = 0;
  const now = (): number => nowMs;

  /** The partitions with events. The others, more than 60,000, are known to be empty, and a query takes a millisecond. */
  const used = new Set<string>();
  /** Those of them that have changed since the last batch of the stream. */
  let changed = new Set<string>();
  const note = (write: Write): Write => {
    const { usage_bucket } = (write.item.Put?.Item ?? {}) as { usage_bucket: string };
    used.add(usage_bucket);
    changed.add(usage_bucket);
    return write;
  };
  const usage: UsageStore = {
    ...rollups.usage,
    toPut: (event, shards) => note(rollups.usage.toPut(event, shards)),
    listByBucket: async function* (shard, atMs) {
      if (used.has(`${shard}#${new Date(atMs).toISOString().slice(0, 16)}Z`)) yield* rollups.usage.listByBucket(shard, atMs);
    },
  };

  const setUp = async (): Promise<void> => {
    const base = { status: 'published' as const, created: 0, context_length: 8_192, max_output_tokens: 4_096, default_output_tokens: 512 };
    for (const [name, prices] of Object.entries(script.models)) {
      const all = prices.map(priceOf);
      if (script.deleted.includes(name)) await transact(database, [models.toRetire(SERVERLESS_POOL, name, all)]);
      else await models.put(SERVERLESS_POOL, { ...base, name, targets: [{ endpoint: 'e', weight: 1 }], prices: all });
    }
    for (const [id, prices] of Object.entries(script.types)) {
      const type = {
        id,
        accelerator: 'NVIDIA A10G',
        accelerators: 1,
        accelerator_memory_gib: 24,
        memory_gib: 16,
        status: 'available' as const,
      };
      const hours = prices.map(({ version, effectiveMs, hour }) => ({ version, effective_at: effectiveMs, hour_nanos: Number(hour) }));
      await transact(database, [catalogue.instanceTypes.toReplace({ ...type, prices: hours, version: 0 })]);
    }
    await transact(database, [settings.toReplaceSeller(SELLER)]);
    for (const { id, org, shards } of script.keys)
      for (const limiter of shardIds(id, shards))
        await limiters.create({ ...newLimiterItem(limiter, org, { set: {} }), ...(shards > 1 && { shards }) });
    const unlimited = {
      requestsPerMinute: Number.POSITIVE_INFINITY,
      tokensPerMinute: Number.POSITIVE_INFINITY,
      concurrency: 1_000,
      budgets: {},
    };
    const prepaid = new Set(script.steps.flatMap((step) => (step.do === 'grant' ? [step.org] : [])));
    for (const org of script.orgs)
      await limiters.create(newLimiterItem(org, org, limitConfiguration({ ...unlimited, isPrepaid: prepaid.has(org) })));
  };

  const usageEventOf = (request: Request): UsageEvent => {
    const { model, version, prompt, cached, completion, holdNanos, isPrepaid } = request;
    const price = script.models[model ?? '']?.find((each) => each.version === version);
    const tokens = { promptTokens: prompt, cachedTokens: cached, completionTokens: completion };
    const cost = price ? costNanos(priceOf(price), tokens) : BigInt(prompt + completion);
    const isCapped = holdNanos !== undefined && cost > holdNanos;
    return {
      request_id: request.id,
      key_id: request.key,
      org_id: request.org,
      ...(model !== null && { model, route: '/v1/chat/completions' }),
      prompt_tokens: prompt,
      cached_tokens: cached,
      completion_tokens: completion,
      source: 'runtime',
      outcome: model === null ? 'orphaned' : 'completed',
      finish_reason: null,
      admitted_at: request.atMs,
      time_to_first_token_ms: null,
      duration_ms: 1_000,
      cost_nanos: isCapped ? holdNanos : cost,
      price_version: version,
      ...(isCapped && { is_capped: true as const }),
      ...(isPrepaid && { is_prepaid: true as const }),
      ...(request.user !== null && { user: request.user }),
    };
  };

  const gpuEventOf = (ran: GpuTime): GpuEvent => {
    const { atMs, seconds, instances, type, isPrepaid } = ran;
    const of = { deployment_id: ran.deployment, generation: 1, instance_type: type, phase: 'serving' as const, started_at: atMs };
    const price = script.types[type]?.find(({ version }) => version === ran.version);
    return {
      ...of,
      id: gpuEventId(of),
      org_id: ran.org,
      name: ran.name,
      instances,
      ended_at: atMs + seconds * MS,
      seconds,
      cost_nanos: gpuCostNanos({ hour_nanos: Number(price?.hour) }, seconds, instances),
      price_version: ran.version,
      ...(isPrepaid && { is_prepaid: true as const }),
    };
  };

  /** Takes what events cost from the credit, as the releases of their reservations do. */
  const pay = async (events: readonly (UsageEvent | GpuEvent)[]): Promise<void> => {
    const costs = new Map<string, bigint>();
    for (const { org_id, cost_nanos, is_prepaid } of events) if (is_prepaid) costs.set(org_id, (costs.get(org_id) ?? 0n) + cost_nanos);
    for (const [id, nanos] of costs)
      await database.update({
        TableName: tables.Keys as string,
        Key: { id },
        UpdateExpression: 'SET avail = avail - :nanos',
        ExpressionAttributeValues: { ':nanos': nanos },
      });
  };

  /** Processes the records of the stream, some of them twice. */
  const stream = async (): Promise<void> => {
    const buckets = [...changed].sort();
    changed = new Set();
    const repeated = buckets.filter((_, i) => i % REPEATED_BUCKETS === 0);
    for (const batch of inBatches([...buckets, ...repeated], BATCH)) await recompute({ ...rollups, usage }, batch.map(bucketOfKey));
  };

  const use = async (requests: readonly Request[], gpu: readonly GpuTime[]): Promise<void> => {
    const events = requests.map(usageEventOf);
    const put = (batch: readonly UsageEvent[]): Promise<void> =>
      transact(
        database,
        batch.map((event) => usage.toPut(event, shardsOf.get(event.key_id) ?? 1)),
      );
    throwFailures(await inParallel(inBatches(events, BATCH), PARALLEL, put));
    for (const event of events.filter((_, i) => i % REPEATED === 0))
      await usage.putIfAbsent({ ...event, cost_nanos: event.cost_nanos + 1n }, shardsOf.get(event.key_id) ?? 1);
    const ran = gpu.map(gpuEventOf);
    for (const org of script.orgs)
      for (const batch of inBatches(
        ran.filter(({ org_id }) => org_id === org),
        GPU_BATCH,
      ))
        await transact(database, gpuEvents.toAdd(batch));
    await pay([...events, ...ran]);
    await stream();
  };

  const rerateDeps: RerateDependencies = {
    ...{ database, audit, limiters, usage, gpuEvents, rerates, billedMonths, tasks, now },
    keysTable: tables.Keys as string,
    organizations: async function* () {
      yield* script.orgs;
    },
    hasTime: () => true,
  };
  const control: ControlRerates = {
    ...{ database, audit, models, catalogue, rerates, billingTasks: tasks },
    organizations: { get: async (id) => ({ id }) as Awaited<ReturnType<ControlRerates['organizations']['get']>> },
  };

  const rerate = async (step: Step & { do: 'rerate' }): Promise<void> => {
    await createRerate(control, actorOf('admin', null, nowMs), {
      ...(step.model !== undefined && { model: step.model }),
      ...(step.type !== undefined && { instance_type: step.type }),
      ...(step.org !== undefined && { organization: step.org }),
      from_version: step.from,
      to_version: step.to,
      start_time: step.fromMs / MS,
      end_time: step.toMs / MS,
      reason: step.name,
      dry_run: false,
    });
    for (let body = sent.shift(); body !== undefined; body = sent.shift()) {
      const task = BillingTask.parse(JSON.parse(body));
      // Each is delivered twice.
      if (task.task === 'rerate') for (let times = 0; times < 2; times++) await rerateEvents(rerateDeps, task);
    }
    await stream();
  };

  const closing: CloseDependencies = {
    ...{ database, audit, outbox, billedMonths, invoices, settings, limiters, usage, gpuEvents, models, catalogue, files, tasks, now },
    numbers: createNumberStore(rows('Billing')),
    totals: rollups.totals,
    nameOf: async (id) => `Organization ${id}`,
    taxes: noTaxes,
    release: 'test',
    hasTime: () => true,
  };
  /** A close, which is repeated at once, as a task that is delivered twice. */
  const close = async (organization: string, month: string): Promise<void> => {
    for (let times = 0; times < 2; times++) await closeMonth(closing, { organization, month });
  };

  const invoiceOf = async (org: string, month: string): Promise<Invoice> => {
    const invoice = (await invoices.ofMonth(org, month)).find(({ state }) => state !== 'void');
    if (!invoice) throw new Error(`${org} has no invoice for ${month}.`);
    return invoice;
  };

  const annul = async (org: string, month: string): Promise<void> => {
    const invoice = await invoiceOf(org, month);
    const fields = { state: 'void' as const, voided_at: nowMs, void_reason: 'Wrong address.' };
    await transact(database, [invoices.toReplace(invoice, fields), ...(await billedMonths.toRestore(invoice))]);
  };

  /** Removes an invoice and what was read for it, as if its month had never been closed. */
  const forget = async (invoice: Invoice): Promise<void> => {
    const { id, organization, month } = invoice;
    await transact(database, await billedMonths.toRestore(invoice));
    const read = [...(await billedMonths.readDays(organization, id)).keys()].map((day) => ({
      account: organization,
      record: `read#${id}#${day}`,
    }));
    const places = [{ account: id, record: 'invoice' }, { account: organization, record: `invoice#${month}#${id}` }, ...read];
    for (const Key of places) await database.delete({ TableName: tables.Billing as string, Key });
  };

  const creditInvoice = async (org: string, month: string, nanos: bigint): Promise<void> => {
    const invoice = await invoiceOf(org, month);
    await transact(database, [invoices.toReplace(invoice, { credited_nanos: invoice.credited_nanos + nanos })]);
  };

  const grant = async (org: string, nanos: bigint, expiresMs: number | undefined): Promise<void> => {
    const entry = { organization: org, amount_nanos: nanos, actor: 'admin', reason: 'Invoice 7', granted_at: nowMs };
    await grantCredit({ database, limiters, credit }, { ...entry, ...(expiresMs !== undefined && { expires_at: expiresMs }) });
  };

  const run = async (step: Step): Promise<void> => {
    nowMs = step.atMs;
    switch (step.do) {
      case 'use':
        return use(step.requests, step.gpu);
      case 'grant':
        return grant(step.org, step.nanos, step.expiresMs);
      case 'expire':
        return expireCredit(
          { database, audit, outbox, limiters, credit, gpuEvents, totals: rollups.totals, now },
          { organization: step.org },
        );
      case 'rerate':
        return rerate(step);
      case 'close':
        for (const org of step.orgs) await close(org, step.month);
        return;
      case 'void':
        return annul(step.org, step.month);
      case 'credit':
        return creditInvoice(step.org, step.month, step.nanos);
    }
  };

  await setUp();
  return {
    run,
    close,
    forget,
    invoices,
    creditNotes,
    billedMonths,
    credit,
    gpuEvents,
    limiters,
    rollups: rollups.rollups,
    totals: rollups.totals,
    files,
  };
};

export type World = Awaited<ReturnType<typeof openWorld>>;
