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
import { dueMonth, LOOKED_AT, lastClosableMonth, skippedMonths } from './due-months.ts';
import type { DueStore } from './due-store.ts';

export interface SendDueTasks {
  due: DueStore;
  billedMonths: Pick<BilledMonthsStore, 'getState' | 'last'>;
  invoices: Pick<InvoiceStore, 'listUnfinished' | 'ofMonth'>;
  organizations: OrganizationDirectory;
  tasks: BillingTasks;
  meters: Pick<MeterStore, 'getMany'>;
  credit: Pick<CreditStore, 'listExpiries' | 'listExpiryChecks'>;
  /** Whether usage is exported to meters. */
  hasMeters: boolean;
  now: () => number;
  hasTime: () => boolean;
}

/** Events of an hour are complete this long after its end, since meters can't be corrected. */
const METER_AFTER_MS = 2 * HOUR_MS;
const METERED_HOURS = 48;
/** Organizations that are read at once, and messages that are sent at the same time. */
const READ_AT_ONCE = 100;
const PARALLEL = 25;

const send = async ({ tasks, now, hasTime }: SendDueTasks, due: readonly BillingTask[]): Promise<void> =>
  throwFailures(await inParallel(due, PARALLEL, (task) => tasks.send(task, now()), hasTime));

async function* inBatches(ids: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const id of ids) {
    if (batch.push(id) < READ_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

type CloseTask = Extract<BillingTask, { task: 'close' }>;

/** The oldest month that was skipped. Months whose invoice is void are left to an admin. */
const skippedMonth = async (
  { billedMonths, invoices }: SendDueTasks,
  { id, createdAtMs }: BilledOrganization,
  lastClosed: string,
): Promise<string | undefined> => {
  const closed = (await billedMonths.last(id, LOOKED_AT)).map(({ month }) => month);
  for (const month of skippedMonths(createdAtMs, lastClosed, closed)) if ((await invoices.ofMonth(id, month)).length === 0) return month;
  return undefined;
};

const dueOfBatch = async (deps: SendDueTasks, ids: readonly string[], lastClosable: string): Promise<CloseTask[]> => {
  const closed = new Map<string, string | null>();
  const read = async (id: string): Promise<void> => void closed.set(id, (await deps.billedMonths.getState(id)).last_closed_month);
  throwFailures(await inParallel(ids, PARALLEL, read, deps.hasTime));
  const behind = await deps.organizations.getMany(ids.filter((id) => (closed.get(id) ?? '') < lastClosable));
  const due: CloseTask[] = [];
  const look = async (organization: BilledOrganization): Promise<void> => {
    const { id, createdAtMs } = organization;
    const last = closed.get(id) ?? null;
    const skipped = last === null ? undefined : await skippedMonth(deps, organization, last);
    const month = skipped ?? dueMonth(createdAtMs, last, lastClosable);
    if (month !== undefined) due.push({ task: 'close', organization: id, month });
  };
  throwFailures(await inParallel(behind, PARALLEL, look, deps.hasTime));
  return due;
};

/** Has the months closed that can be closed and are not. Logs how late the oldest of them is, for an alarm. */
const sendMonths = async (deps: SendDueTasks): Promise<void> => {
  const nowMs = deps.now();
  const lastClosable = lastClosableMonth(nowMs);
  if (((await deps.due.allClosedUntil()) ?? '') >= lastClosable) return;
  const behind = new Set<string>();
  let oldest = lastClosable;
  for await (const ids of inBatches(deps.organizations.ids())) {
    const tasks = await dueOfBatch(deps, ids, lastClosable);
    for (const task of tasks) {
      behind.add(task.organization);
      if (task.month < oldest) oldest = task.month;
    }
    await send(deps, tasks);
  }
  if (behind.size === 0) return deps.due.noteAllClosed(lastClosable);
  logInfo('months_due', { organizations: behind.size, oldest, late_minutes: Math.floor((nowMs - closableAt(oldest)) / MINUTE_MS) });
};

/**
 * Has invoices issued and rendered whose task has failed to the end. Drafts that an admin issues are looked at, too,
 * which changes nothing.
 */
const sendUnfinished = async (deps: SendDueTasks): Promise<void> => {
  const tasks = await Array.fromAsync(deps.invoices.listUnfinished(), (month): BillingTask => ({ task: 'close', ...month }));
  await send(deps, tasks);
};

const sendExpiries = async (deps: SendDueTasks): Promise<void> => {
  const organizations = new Set<string>();
  for await (const { organization } of dueExpiries(deps)) organizations.add(organization);
  await send(
    deps,
    [...organizations].map((organization) => ({ task: 'expire', organization })),
  );
};

const sendMeters = async (deps: SendDueTasks): Promise<void> => {
  if (!deps.hasMeters) return;
  const lastHour = Math.floor((deps.now() - METER_AFTER_MS) / HOUR_MS) * HOUR_MS - HOUR_MS;
  const hours = Array.from({ length: METERED_HOURS }, (_, i) => lastHour - (METERED_HOURS - 1 - i) * HOUR_MS);
  for await (const organization of deps.due.metered()) {
    const exported = await deps.meters.getMany(organization, hours);
    // What was being sent when a task failed is sent again.
    const missing = hours.filter((hour) => exported.get(hour)?.pending !== null);
    await send(
      deps,
      missing.map((hour) => ({ task: 'meters', organization, hour })),
    );
  }
};

/**
 * Sends the tasks that time makes due: the first month to close of each organization, from 01:00 UTC on the 1st of
 * the next month; invoices that were created but not issued or rendered; credit to remove, from 01:00 UTC on the day
 * of its expiry; hours to export, two hours after their end. It can be repeated: what is done already sends nothing.
 * If one kind fails, the others are sent.
 * @throws AggregateError if a kind failed; the next hour sends it again
 */
export const sendDueTasks = async (deps: SendDueTasks): Promise<void> => {
  const failures = await inParallel([sendMonths, sendUnfinished, sendExpiries, sendMeters], 1, (sendKind) => sendKind(deps));
  throwFailures(failures);
  logInfo('due_tasks_sent');
};
