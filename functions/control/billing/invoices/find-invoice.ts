import * as z from 'zod';
import { type Invoice, InvoiceState } from '../../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { Month } from '../../../../shared/billing/month.ts';
import { ResourceNotFound } from '../../../../shared/http/errors.ts';
import { type Page, pageQuery } from '../../../../shared/http/page.ts';
import { type Actor, can, isOfPlatform, organizationFor, type Rights } from '../../access/actor.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { type InvoiceSummary, toSummary } from './invoice-resource.ts';

// A page can be shorter than requested after this many reads, so that a rare state can't make a request endless.
const MAX_READS = 10;

export const InvoicesQuery = z.strictObject({
  ...pageQuery,
  organization: OrganizationId.optional().meta({
    description: 'The organization whose invoices to list. Required for admins; otherwise your own organization.',
  }),
  state: InvoiceState.optional().meta({ description: 'Only invoices in this state.' }),
  month: Month.optional().meta({ description: 'Only invoices of this month (UTC).', examples: ['2026-10'] }),
});
export type InvoicesQuery = z.output<typeof InvoicesQuery>;

export interface InvoiceReads {
  invoices: InvoiceStore;
}

// Owners see issued invoices; drafts, deleted ones included, belong to the platform.
const isVisibleTo = (actor: Rights, { issued_at }: Invoice): boolean => can(actor, 'billing:issue') || issued_at !== null;

/**
 * Returns an invoice that the actor can see: an issued one of their own organization, or any for admins.
 * @throws 404
 */
export const visibleInvoice = async ({ invoices }: InvoiceReads, actor: Actor, id: string): Promise<Invoice> => {
  const invoice = await invoices.find(id);
  const isOwn = isOfPlatform(actor) || invoice?.organization === actor.organization;
  if (!(invoice && isOwn && isVisibleTo(actor, invoice))) throw new ResourceNotFound('invoice', id);
  return invoice;
};

type InvoicePage = Awaited<ReturnType<InvoiceStore['list']>>;

// The invoices of one month are few, and fit a page.
const listPage = async ({ invoices }: InvoiceReads, organization: string, { month, limit, after }: InvoicesQuery): Promise<InvoicePage> => {
  if (month === undefined) return invoices.list(organization, { limit, after });
  if (after !== undefined) return { invoices: [], hasMore: false, next: null };
  return { invoices: (await invoices.ofMonth(organization, month)).reverse(), hasMore: false, next: null };
};

/** Lists an organization's invoices, newest first. @throws 400, 404 */
export const listInvoices = async (deps: InvoiceReads, actor: Actor, query: InvoicesQuery): Promise<Page<InvoiceSummary>> => {
  const organization = organizationFor(actor, query.organization);
  const data: InvoiceSummary[] = [];
  let after = query.after;
  for (let reads = 1; ; reads++) {
    const { invoices, next } = await listPage(deps, organization, { ...query, after, limit: query.limit - data.length });
    const wanted = invoices.filter((invoice) => isVisibleTo(actor, invoice) && (query.state ?? invoice.state) === invoice.state);
    data.push(...wanted.map(toSummary));
    if (next === null || data.length >= query.limit || reads === MAX_READS) return { object: 'list', data, has_more: next !== null, next };
    after = next;
  }
};
