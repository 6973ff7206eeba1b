import { commit } from '../../../shared/audit/commit.ts';
import { systemOrigin } from '../../../shared/audit/origin.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import type { BillingTasks } from '../../../shared/billing/billing-tasks.ts';
import type { Invoice } from '../../../shared/billing/invoice.ts';
import { InvoiceExists, type InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import { type IssueDependencies, issueInvoice } from '../../../shared/billing/issue-invoice.ts';
import { closableAt, monthOf, nextMonth } from '../../../shared/billing/month.ts';
import type { OrganizationDirectory } from '../../../shared/billing/organization-directory.ts';
import { transact, type Write } from '../../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../../shared/http/errors.ts';
import { logInfo } from '../../../shared/logging/log.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { creditServiceLevels, type ServiceCreditDependencies } from './credit-service-levels.ts';
import { type Draft, type DraftDependencies, draftInvoice, type InvoiceToDraft } from './draft-invoice.ts';
import { invoiceIdOf } from './invoice-id.ts';
import { OutOfTime } from './read-day.ts';
import { progressOf } from './read-days.ts';

export interface CloseDependencies extends DraftDependencies, IssueDependencies, ServiceCreditDependencies {
  limiters: DraftDependencies['limiters'] & ServiceCreditDependencies['limiters'];
  settings: IssueDependencies['settings'];
  invoices: InvoiceStore;
  organizations: Pick<OrganizationDirectory, 'getMany'>;
  billedMonths: BilledMonthsStore;
  tasks: BillingTasks;
  now: () => number;
}

interface Month {
  organization: string;
  month: string;
}

// An invoice uses all that earlier ones have carried forward.
const carriedBy = ({ id, carried_forward_nanos }: Invoice) => ({
  carried_forward_nanos,
  carried_by: carried_forward_nanos === 0n ? [] : [id],
});

const writesToClose = (deps: CloseDependencies, { organization, month, state }: InvoiceToDraft, { invoice, months }: Draft): Write[] => {
  const { last_closed_month } = state;
  const last = last_closed_month !== null && last_closed_month > month ? last_closed_month : month;
  return [
    ...(invoice ? deps.invoices.toCreate(invoice) : []),
    ...months.map(({ before, days }) =>
      deps.billedMonths.toReplace({
        ...(before ?? { organization, month, version: 0 }),
        days,
        suspected: [],
        invoice: invoice?.id ?? before?.invoice ?? null,
      }),
    ),
    deps.billedMonths.toReplaceState(organization, {
      ...state,
      last_closed_month: last,
      ...(invoice && carriedBy(invoice)),
    }),
  ];
};

// One transaction, so that only one of two functions that close a month at the same time succeeds.
const close = async (deps: CloseDependencies, wanted: InvoiceToDraft): Promise<void> => {
  const draft = await draftInvoice(deps, wanted);
  const writes = writesToClose(deps, wanted, draft);
  const { invoice } = draft;
  if (!invoice) return transact(deps.database, writes);
  const change = {
    action: 'invoice.created',
    organization: invoice.organization,
    target: { type: 'invoice', id: invoice.id },
    after: { month: invoice.month, state: invoice.state, total: dollarsOf(invoice.total_nanos), inputs_sha256: invoice.inputs_sha256 },
  };
  await commit(deps, systemOrigin('billing', deps.now()), change, writes);
};

const issueIfAutomatic = async (deps: CloseDependencies, invoice: Invoice): Promise<Invoice> => {
  if (invoice.state !== 'draft' || (await deps.settings.getSeller())?.issue !== 'automatic') return invoice;
  try {
    return await issueInvoice(deps, systemOrigin('billing', deps.now()), invoice);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    // Another function issued it at the same time.
    return deps.invoices.get(invoice.organization, invoice.id);
  }
};

const complete = async (deps: CloseDependencies, existing: Invoice): Promise<void> => {
  const invoice = await issueIfAutomatic(deps, existing);
  const isIssued = invoice.state === 'issued' || invoice.state === 'paid';
  if (isIssued) await creditServiceLevels(deps, invoice);
  if (isIssued && invoice.files.pdf !== undefined) return transact(deps.database, [deps.invoices.toFinish(invoice)]);
  if (isIssued) await deps.tasks.send({ task: 'render', organization: invoice.organization, document: invoice.id }, deps.now());
};

const findInvoice = async ({ invoices }: CloseDependencies, { organization, month }: Month) => {
  const all = await invoices.ofMonth(organization, month);
  return { invoice: all.find(({ state }) => state !== 'void'), nextId: invoiceIdOf(organization, month, all.length) };
};

// An earlier month is closed again if its invoice is void or its closing failed.
const isNext = async ({ organizations }: CloseDependencies, { organization, month }: Month, last: string | null): Promise<boolean> => {
  if (last !== null) return month <= nextMonth(last);
  const [stored] = await organizations.getMany([organization]);
  return stored !== undefined && month === monthOf(stored.createdAtMs);
};

const queueContinuation = async (deps: CloseDependencies, of: Month, invoice: string, before: string): Promise<void> => {
  const progress = await progressOf(deps, of.organization, invoice);
  if (progress === before) throw new Error(`No API key of ${of.organization} could be read for ${of.month} in the time of one invocation.`);
  await deps.tasks.send({ task: 'close', ...of }, deps.now(), progress);
  logInfo('month_continues', { ...of, invoice, progress });
};

const isClosedMeanwhile = (error: unknown): boolean => error instanceof InvoiceExists || error instanceof PreconditionFailed;

const ensureClosed = async (deps: CloseDependencies, of: Month, invoice: string): Promise<boolean> => {
  const { organization, month } = of;
  const state = await deps.billedMonths.getState(organization);
  if (!(await isNext(deps, of, state.last_closed_month))) {
    logInfo('month_not_next', { ...of, last_closed_month: state.last_closed_month });
    return false;
  }
  const before = await progressOf(deps, organization, invoice);
  try {
    await close(deps, { ...of, invoice, state });
  } catch (error) {
    if (error instanceof OutOfTime) {
      await queueContinuation(deps, of, invoice, before);
      return false;
    }
    const isClosed = isClosedMeanwhile(error) && (await deps.billedMonths.get(organization, month)) !== undefined;
    if (!isClosed) throw error;
  }
  return true;
};

const ensureComplete = async (deps: CloseDependencies, of: Month): Promise<boolean> => {
  const { organization, month } = of;
  const { invoice, nextId } = await findInvoice(deps, of);
  if (invoice) await complete(deps, invoice);
  if (invoice || (await deps.billedMonths.get(organization, month)) !== undefined) return true;
  if (!(await ensureClosed(deps, of, nextId))) return false;
  const { invoice: drafted } = await findInvoice(deps, of);
  logInfo('month_closed', { ...of, invoice: drafted?.id ?? null, total_nanos: drafted?.total_nanos ?? null });
  if (drafted) await complete(deps, drafted);
  return true;
};

// Only one month of an organization is queued at a time, so that months are closed in order.
const queueNextMonth = async ({ billedMonths, tasks, now }: CloseDependencies, { organization, month }: Month): Promise<void> => {
  const { last_closed_month } = await billedMonths.getState(organization);
  const next = nextMonth(month);
  if (last_closed_month === month && now() >= closableAt(next)) await tasks.send({ task: 'close', organization, month: next }, now());
};

/**
 * Closes a UTC month of an organization: drafts its invoice from the events, closes the month, issues the invoice if
 * the seller issues automatically, and queues the rendering of its files. Finished steps are skipped, so that the task
 * can be repeated after a crash. A month without usage gets no invoice. Then the next month is queued, if it is due.
 * @throws Error if the month is not over; if events, prices or taxes can't be read
 */
export const closeMonth = async (deps: CloseDependencies, of: Month): Promise<void> => {
  const closableMs = closableAt(of.month);
  if (deps.now() < closableMs)
    throw new Error(`${of.month} can be closed from ${new Date(closableMs).toISOString()} on, when its last requests have ended.`);
  if (await ensureComplete(deps, of)) await queueNextMonth(deps, of);
};
