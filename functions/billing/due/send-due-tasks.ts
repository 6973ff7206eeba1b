import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { BillingTask, BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { closableAt } from '../../../shared/billing/month.ts';
import type { BilledOrganization, OrganizationDirectory } from '../../../shared/billing/organization-directory.ts';
import type { CreditStore } from '../../../shared/credit/credit-store.ts';
import { inParallel, throwFailures } from '../../../shared/database/in-parallel.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { HOUR_MS, MINUTE_MS } from '../../../shared/time/units.ts';
import { dueExpiries } from '../credit-expiry/due-expiries.ts';
import type { MeterStore } from '../meters/meter-store.ts';
import { checkInvoiceList, type ListCheckDependencies } from './check-invoice-list.ts';
import { dueMonth, lastClosableMonth, SEARCHED_MONTHS, skippedMonths } from './due-months.ts';
import type { DueStore } from './due-store.ts';
import { type ExpiringSecretDependencies, notifyExpiringSecrets } from './notify-expiring-secrets.ts';

export interface DueTaskDependencies extends ExpiringSecretDependencies, ListCheckDependencies {
  due: DueStore;
  billedMonths: Pick<BilledMonthsStore, 'getState' | 'last'>;
  invoices: Pick<InvoiceStore, 'listUnfinished' | 'ofMonth'> & ListCheckDependencies['invoices'];
  organizations: OrganizationDirectory;
  tasks: BillingTasks;
  meters: Pick<MeterStore, 'getMany'>;
  credit: Pick<CreditStore, 'listExpiries' | 'listExpiryChecks'>;
  /** True if usage is exported to Stripe's meters. */
  hasMeters: boolean;
}

// Meters can't be corrected downwards, so an hour is exported when its events are complete.
const METER_AFTER_MS = 2 * HOUR_MS;
const METERED_HOURS = 48;
const BATCH_ORGANIZATIONS = 100;
const PARALLEL_CALLS = 25;

const sendAll = ({ tasks, now, hasTime }: DueTaskDependencies, due: readonly BillingTask[]): Promise<unknown[]> =>
  inParallel(due, PARALLEL_CALLS, (task) => tasks.send(task, now()), hasTime);
const send = async (deps: DueTaskDependencies, due: readonly BillingTask[]): Promise<void> => throwFailures(await sendAll(deps, due));

async function* inBatches(ids: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const id of ids) {
    if (batch.push(id) < BATCH_ORGANIZATIONS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

type CloseTask = Extract<BillingTask, { task: 'close' }>;

// An admin decides about months whose invoice is void.
const skippedMonth = async (
  { billedMonths, invoices }: DueTaskDependencies,
  { id, createdAtMs }: BilledOrganization,
  lastClosed: string,
): Promise<string | undefined> => {
  const closed = (await billedMonths.last(id, SEARCHED_MONTHS)).map(({ month }) => month);
  for (const month of skippedMonths(createdAtMs, lastClosed, closed)) if ((await invoices.ofMonth(id, month)).length === 0) return month;
  return undefined;
};

interface DueMonths {
  due: CloseTask[];
  failures: unknown[];
}

// An organization whose rows can't be read does not hold up the others.
const dueOfBatch = async (deps: DueTaskDependencies, ids: readonly string[], lastClosable: string): Promise<DueMonths> => {
  const closed = new Map<string, string | null>();
  const read = async (id: string): Promise<void> => void closed.set(id, (await deps.billedMonths.getState(id)).last_closed_month);
  const unread = await inParallel(ids, PARALLEL_CALLS, read, deps.hasTime);
  const behind = await deps.organizations.getMany(ids.filter((id) => closed.has(id) && (closed.get(id) ?? '') < lastClosable));
  const due: CloseTask[] = [];
  const look = async (organization: BilledOrganization): Promise<void> => {
    const { id, createdAtMs } = organization;
    const last = closed.get(id) ?? null;
    const skipped = last === null ? undefined : await skippedMonth(deps, organization, last);
    const month = skipped ?? dueMonth(createdAtMs, last, lastClosable);
    if (month !== undefined) due.push({ task: 'close', organization: id, month });
  };
  return { due, failures: [...unread, ...(await inParallel(behind, PARALLEL_CALLS, look, deps.hasTime))] };
};

// The log line with the delay of the oldest month feeds an alarm.
const sendMonths = async (deps: DueTaskDependencies): Promise<void> => {
  const nowMs = deps.now();
  const lastClosable = lastClosableMonth(nowMs);
  if (((await deps.due.allClosedUntil()) ?? '') >= lastClosable) return;
  const behind = new Set<string>();
  const failures: unknown[] = [];
  let oldest = lastClosable;
  for await (const ids of inBatches(deps.organizations.ids())) {
    if (!deps.hasTime()) {
      failures.push(new Error('Ran out of time before the months of all organizations were read.'));
      break;
    }
    const months = await dueOfBatch(deps, ids, lastClosable);
    for (const { organization, month } of months.due) {
      behind.add(organization);
      if (month < oldest) oldest = month;
    }
    failures.push(...months.failures, ...(await sendAll(deps, months.due)));
  }
  if (behind.size > 0)
    logInfo('months_due', { organizations: behind.size, oldest, late_minutes: Math.floor((nowMs - closableAt(oldest)) / MINUTE_MS) });
  throwFailures(failures);
  if (behind.size === 0) await deps.due.noteAllClosed(lastClosable);
};

// Requeues invoices whose task used up its retries. Drafts that wait for an admin are requeued too; the task ignores
// them.
const sendUnfinished = async (deps: DueTaskDependencies): Promise<void> => {
  const tasks = await Array.fromAsync(deps.invoices.listUnfinished(), (month): BillingTask => ({ task: 'close', ...month }));
  await send(deps, tasks);
};

const sendExpiries = async (deps: DueTaskDependencies): Promise<void> => {
  const organizations = new Set<string>();
  for await (const { organization } of dueExpiries(deps)) organizations.add(organization);
  await send(
    deps,
    [...organizations].map((organization) => ({ task: 'expire', organization })),
  );
};

const sendMeters = async (deps: DueTaskDependencies): Promise<void> => {
  if (!deps.hasMeters) return;
  const lastHour = Math.floor((deps.now() - METER_AFTER_MS) / HOUR_MS) * HOUR_MS - HOUR_MS;
  const hours = Array.from({ length: METERED_HOURS }, (_, i) => lastHour - (METERED_HOURS - 1 - i) * HOUR_MS);
  const sendMissing = async (organization: string): Promise<void> => {
    const exported = await deps.meters.getMany(organization, hours);
    // An hour with pending amounts is sent again, because its last task failed.
    const missing = hours.filter((hour) => exported.get(hour)?.pending !== null);
    await send(
      deps,
      missing.map((hour) => ({ task: 'meters', organization, hour })),
    );
  };
  throwFailures(await inParallel(await Array.fromAsync(deps.due.metered()), 1, sendMissing, deps.hasTime));
};

/**
 * Sends the tasks that are due by time: the first month to close of each organization, from 01:00 UTC on the 1st of the
 * next month; invoices that were created but not issued or rendered; credit to remove, from 01:00 UTC on the day of its
 * expiry; hours to export, two hours after their end. Finished work is skipped. Then it notifies of secrets that expire
 * soon, and checks the list of all invoices. If one kind of work or one organization fails, the others are still done.
 * @throws AggregateError if any failed; the next run sends it again
 */
export const sendDueTasks = async (deps: DueTaskDependencies): Promise<void> => {
  const kinds = [sendMonths, sendUnfinished, sendExpiries, sendMeters, notifyExpiringSecrets, checkInvoiceList];
  const failures = await inParallel(kinds, 1, (doKind) => doKind(deps));
  throwFailures(failures);
  logInfo('due_tasks_sent');
};
