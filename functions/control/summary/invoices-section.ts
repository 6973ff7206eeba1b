import { isOpen } from '../../../shared/billing/invoice.ts';
import type { OrganizationReads, SummaryDependencies } from './summary-reads.ts';
import type { InvoicesSection } from './summary-resource.ts';

// Three years of invoices.
const MAX_INVOICES = 36;

/** Counts the organization's invoices of which something is left to pay. */
export const invoicesSection = async ({ deps, actor, organization }: OrganizationReads): Promise<InvoicesSection> => {
  const { invoices, hasMore } = await deps.invoices.list(organization, { limit: MAX_INVOICES });
  const open = invoices.filter(isOpen);
  const overdue = open.filter(({ due_at }) => due_at !== null && due_at < actor.origin.nowMs);
  return { open: open.length, overdue: overdue.length, is_partial: hasMore };
};

/** Counts the drafts, and the invoices of which something is left to pay, of all organizations. */
export const platformInvoices = async ({ allInvoices }: SummaryDependencies, nowMs: number): Promise<InvoicesSection> => {
  const [{ drafts, open, overdue, isComplete }, { finished }] = await Promise.all([allInvoices.countOpen(nowMs), allInvoices.getCheck()]);
  return { drafts, open, overdue, is_partial: !isComplete || finished === null };
};
