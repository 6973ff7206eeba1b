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
import { type Draft, type DraftDependencies, type Drafting, draftInvoice } from './draft-invoice.ts';
import { invoiceIdOf } from './invoice-id.ts';
import { OutOfTime } from './read-day.ts';
import { progressOf } from './read-days.ts';

export interface CloseDependencies extends DraftDependencies, IssueDependencies {
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

/** The writes that close a month: its invoice, what is billed with it, and how far the organization is billed. */
const toClose = (deps: CloseDependencies, { organization, month, state }: Drafting, { invoice, months }: Draft): Write[] => {
  const { last_closed_month, carried_forward_nanos } = state;
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
      carried_forward_nanos: invoice?.carried_forward_nanos ?? carried_forward_nanos,
    }),
  ];
};

/**
 * Makes the invoice of a month and closes the month, in one transaction. If another function does it at the same
 * time, one of them succeeds.
 */
const close = async (deps: CloseDependencies, drafting: Drafting): Promise<void> => {
  const draft = await draftInvoice(deps, drafting);
  const writes = toClose(deps, drafting, draft);
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

/** Issues a draft if the seller's invoices are issued automatically. Returns the invoice as it is then. */
const issue = async (deps: CloseDependencies, invoice: Invoice): Promise<Invoice> => {
  if (invoice.state !== 'draft' || (await deps.settings.getSeller())?.issue !== 'automatic') return invoice;
  try {
    return await issueInvoice(deps, systemOrigin('billing', deps.now()), invoice);
  } catch (error) {
    if (!(error instanceof PreconditionFailed)) throw error;
    // Another function has issued it at the same time.
    return deps.invoices.get(invoice.organization, invoice.id);
  }
};

/** Issues a draft if it should be, and has the files of an issued invoice made that has none. */
const complete = async (deps: CloseDependencies, found: Invoice): Promise<void> => {
  const invoice = await issue(deps, found);
  const isIssued = invoice.state === 'issued' || invoice.state === 'paid';
  if (isIssued && invoice.files.pdf !== undefined) return transact(deps.database, [deps.invoices.toFinish(invoice)]);
  if (isIssued) await deps.tasks.send({ task: 'render', organization: invoice.organization, document: invoice.id }, deps.now());
};

/** The month's invoice that is not void, and the id of the one to make if there is none. */
const findInvoice = async ({ invoices }: CloseDependencies, { organization, month }: Month) => {
  const all = await invoices.ofMonth(organization, month);
  return { invoice: all.find(({ state }) => state !== 'void'), nextId: invoiceIdOf(organization, month, all.length) };
};

/**
 * Whether it is the month's turn: the one after the last closed one, or an earlier one, whose invoice is void or
 * whose closing failed. The first one is that of the organization's creation.
 */
const isNext = async ({ organizations }: CloseDependencies, { organization, month }: Month, last: string | null): Promise<boolean> => {
  if (last !== null) return month <= nextMonth(last);
  const [found] = await organizations.getMany([organization]);
  return found !== undefined && month === monthOf(found.createdAtMs);
};

/**
 * Continues by another task, because the time is over. @throws Error if nothing was read this time, so that it could
 * go on for ever
 */
const continueLater = async (deps: CloseDependencies, of: Month, invoice: string, before: string): Promise<void> => {
  const progress = await progressOf(deps, of.organization, invoice);
  if (progress === before) throw new Error(`No API key of ${of.organization} could be read for ${of.month} in the time of one invocation.`);
  await deps.tasks.send({ task: 'close', ...of }, deps.now(), progress);
  logInfo('month_continues', { ...of, invoice, progress });
};

/** Whether a closing failed because another one has closed the month at the same time. */
const isClosedMeanwhile = (error: unknown): boolean => error instanceof InvoiceExists || error instanceof PreconditionFailed;

/** Closes the month, if that was not done. @returns false if it goes on in another task */
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
      await continueLater(deps, of, invoice, before);
      return false;
    }
    const isClosed = isClosedMeanwhile(error) && (await deps.billedMonths.get(organization, month)) !== undefined;
    if (!isClosed) throw error;
  }
  return true;
};

/** Completes what is left to do of a month. @returns false if it goes on in another task */
const ensureComplete = async (deps: CloseDependencies, of: Month): Promise<boolean> => {
  const { organization, month } = of;
  const { invoice, nextId } = await findInvoice(deps, of);
  if (invoice) await complete(deps, invoice);
  if (invoice || (await deps.billedMonths.get(organization, month)) !== undefined) return true;
  if (!(await ensureClosed(deps, of, nextId))) return false;
  const { invoice: made } = await findInvoice(deps, of);
  logInfo('month_closed', { ...of, invoice: made?.id ?? null, total_nanos: made?.total_nanos ?? null });
  if (made) await complete(deps, made);
  return true;
};

/**
 * Has the month after the last closed one closed, if it can be. Only one month of an organization is sent at a time,
 * so their order is certain.
 */
const sendNext = async ({ billedMonths, tasks, now }: CloseDependencies, { organization, month }: Month): Promise<void> => {
  const { last_closed_month } = await billedMonths.getState(organization);
  const next = nextMonth(month);
  if (last_closed_month === month && now() >= closableAt(next)) await tasks.send({ task: 'close', organization, month: next }, now());
};

/**
 * Closes a UTC month of an organization: makes its invoice from the events, closes the month, issues the invoice if
 * the seller's are issued automatically, and has its files made. Each step that is done is found and not repeated, so
 * a function can crash anywhere and the next call goes on. A month without usage gets no invoice. Then the next month
 * is sent, if it is due.
 * @throws Error if the month is not over; if events, prices or taxes can't be read
 */
export const closeMonth = async (deps: CloseDependencies, of: Month): Promise<void> => {
  const closableMs = closableAt(of.month);
  if (deps.now() < closableMs)
    throw new Error(`${of.month} can be closed from ${new Date(closableMs).toISOString()} on, when its last requests have ended.`);
  if (await ensureComplete(deps, of)) await sendNext(deps, of);
};
