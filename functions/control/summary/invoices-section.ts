import type { Invoice } from '../../../shared/billing/invoice.ts';
import type { OrganizationReads } from './summary-reads.ts';
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
