import { type ExpiryDependencies, expireCredit } from '../../../functions/billing/credit-expiry/expire-credit.ts';
import { type RerateEventsDependencies, rerateEvents } from '../../../functions/billing/rerate/rerate-events.ts';
import { type RerateRouteDependencies as ControlRerates, createRerate } from '../../../functions/control/billing/rerates/rerates.ts';
import { limitConfiguration, newLimiterItem } from '../../../shared/admission/item/limiter-item.ts';
import { shardIds } from '../../../shared/admission/item/shards.ts';
import { createBilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { BillingTask } from '../../../shared/billing/billing-tasks.ts';
import { createRerateStore } from '../../../shared/billing/rerate-store.ts';
import { Seller } from '../../../shared/billing/seller.ts';
import { createCreditStore } from '../../../shared/credit/credit-store.ts';
import { createRecordTable } from '../../../shared/database/record-table.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { createCatalogueStore } from '../../../shared/deployments/catalogue-store.ts';
import { SERVERLESS_POOL } from '../../../shared/models/model-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { billingDepsOf } from '../../functions/control/billing/billing-fixtures.ts';
import type { TestDatabase } from '../../support/emulators/database.ts';
import { grantCredit } from '../../support/fixtures/grant-credit.ts';
import { actorOf } from '../../support/fixtures/managed-models.ts';
import { openDocuments } from './documents.ts';
import { priceOf } from './events.ts';
import { openIngestion } from './ingestion.ts';
import type { Script, Step } from './script.ts';

const SELLER = Seller.parse({
  legal_name: 'Sluice GmbH',
  address: { lines: ['Kai 1', '20457 Hamburg'], country: 'DE' },
  tax_id: 'DE123456789',
  version: 0,
});

/** Does what a script says with the code of the service, in the tables of an emulator. */
export const openWorld = async (test: TestDatabase, script: Script) => {
  const { database, tables, models, limiters } = test;
  const rows = (name: string) => createRecordTable(database, tables[name] as string);
  const billing = billingDepsOf(test);
  const { audit, outbox, settings, sent, billingTasks: tasks } = billing;
  const catalogue = createCatalogueStore(rows('Deployments'));
  const credit = createCreditStore(database, tables.Accounts as string);
  const rerates = createRerateStore(rows('Billing'));
  const ingestion = openIngestion(test, script);
  const { usage, gpuEvents, totals } = ingestion;

  let nowMs = 0;
  const now = (): number => nowMs;
  const documents = await openDocuments({ test, ingestion, catalogue, billing, credit, now });

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

  const rerateDeps: RerateEventsDependencies = {
    ...{ database, audit, limiters, usage, gpuEvents, rerates, tasks, now },
    rollups: ingestion.rollups,
    billedMonths: createBilledMonthsStore(rows('Billing')),
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

  const work = (task: BillingTask): Promise<void> => {
    if (task.task === 'rerate') return rerateEvents(rerateDeps, task);
    if (task.task === 'render') return documents.render(task);
    throw new Error(`Nothing sends the task ${task.task} here.`);
  };

  /** Does the tasks that were sent. Each is delivered twice. */
  const workOff = async (): Promise<void> => {
    for (let task = sent.shift(); task !== undefined; task = sent.shift()) for (let times = 0; times < 2; times++) await work(task);
  };

  const rerate = async (step: Step & { do: 'rerate' }): Promise<void> => {
    await createRerate(control, actorOf('admin', null, nowMs), {
      ...(step.model !== undefined && { model: step.model }),
      ...(step.type !== undefined && { instance_type: step.type }),
      ...(step.org !== undefined && { organization: step.org }),
      from_version: step.from,
      to_version: step.to,
      start_time: step.fromMs / SECOND_MS,
      end_time: step.toMs / SECOND_MS,
      reason: step.name,
      dry_run: false,
    });
    await workOff();
    await ingestion.stream();
  };

  const grant = async (org: string, nanos: bigint, expiresMs: number | undefined): Promise<void> => {
    const entry = { organization: org, amount_nanos: nanos, actor: 'admin', reason: 'Invoice 7', granted_at: nowMs };
    await grantCredit({ database, limiters, credit }, { ...entry, ...(expiresMs !== undefined && { expires_at: expiresMs }) });
  };

  const close = async (org: string, month: string): Promise<void> => {
    await documents.close(org, month);
    await workOff();
  };

  const expiring: Omit<ExpiryDependencies, 'now'> = {
    ...{ database, audit, outbox, limiters, credit, gpuEvents, totals, usage, tasks },
    rollups: ingestion.rollups,
    billedMonths: createBilledMonthsStore(rows('Billing')),
    files: documents.files,
    deployments: { list: async () => ({ deployments: [], hasMore: false }) },
    hasTime: () => true,
  };

  const run = async (step: Step): Promise<void> => {
    nowMs = step.atMs;
    switch (step.do) {
      case 'use':
        return ingestion.use(step.requests, step.gpu);
      case 'grant':
        return grant(step.org, step.nanos, step.expiresMs);
      case 'expire':
        return expireCredit({ ...expiring, now }, { organization: step.org });
      case 'rerate':
        return rerate(step);
      case 'close':
        for (const org of step.orgs) await close(org, step.month);
        return;
      case 'void':
        return documents.annul(step.org, step.month);
      case 'credit':
        await documents.credit(step.org, step.month, step.nanos);
        return workOff();
    }
  };

  await setUp();
  return { ...billing, ...ingestion, ...documents, limiters, credit, close, run };
};

export type World = Awaited<ReturnType<typeof openWorld>>;
