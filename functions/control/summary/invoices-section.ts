import type { Invoice } from '../../../shared/billing/invoice.ts';
import type { OrganizationReads, SummaryDependencies } from './summary-reads.ts';
import type { InvoicesSection } from './summary-resource.ts';

// Three years of invoices.
const MAX_INVOICES = 36;

const isOpen = ({ state }: Pick<Invoice, 'state'>): boolean => state === 'issued';

/** Counts the organization's issued invoices that are not paid. */
export const invoicesSection = async ({ deps, actor, organization }: OrganizationReads): Promise<InvoicesSection> => {
  const { invoices, hasMore } = await deps.invoices.list(organization, { limit: MAX_INVOICES });
  const open = invoices.filter(isOpen);
  const overdue = open.filter(({ due_at }) => due_at !== null && due_at < actor.origin.nowMs);
  return { open: open.length, overdue: overdue.length, is_partial: hasMore };
};

/** Counts the drafts and the invoices that are not paid of all organizations. */
export const platformInvoices = async ({ allInvoices }: SummaryDependencies, nowMs: number): Promise<InvoicesSection> => {
  const [{ drafts, open, overdue, isComplete }, { finished }] = await Promise.all([allInvoices.countOpen(nowMs), allInvoices.getCheck()]);
  return { drafts, open, overdue, is_partial: !isComplete || finished === null };
};
