import * as z from 'zod';
import type { AllInvoicesStore } from '../../../../shared/billing/all-invoices-store.ts';
import { type Invoice, InvoiceState } from '../../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../../shared/billing/invoice-store.ts';
import { Month } from '../../../../shared/billing/month.ts';
import { pageOf, pageQuery, WrongCursor } from '../../../../shared/http/page.ts';
import { dollarsOf } from '../../../../shared/prices/dollars.ts';
import { type Actor, isOfPlatform, organizationFor } from '../../access/actor.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { type InvoiceReads, isVisibleTo } from './find-invoice.ts';
import { InvoiceSummary, toSummary } from './invoice-resource.ts';

// A page can be shorter than requested after this many reads, so that a rare state can't make a request endless.
const MAX_READS = 10;

export const InvoicesQuery = z.strictObject({
  ...pageQuery,
  organization: OrganizationId.optional().meta({
    description: "The organization whose invoices to list. Defaults to your own; for the platform's users, to all.",
  }),
  state: InvoiceState.optional().meta({ description: 'Only invoices in this state.' }),
  month: Month.optional().meta({ description: 'Only invoices of this month (UTC).', examples: ['2026-10'] }),
});
export type InvoicesQuery = z.output<typeof InvoicesQuery>;

const InvoiceSum = z.object({
  currency: z.string(),
  invoices: z.int(),
  total: z.string().meta({ description: 'The sum of their `total`. An exact decimal number.', examples: ['12.5'] }),
  credited: z.string().meta({ description: 'The sum of their `credited`. An exact decimal number.' }),
});

/** A page of invoices with their sums. */
export const InvoiceList = pageOf(InvoiceSummary).extend({
  sums: z.array(InvoiceSum).meta({ description: "The sums of this page's invoices, by currency." }),
  is_complete: z.boolean().meta({
    description:
      'False only without `organization`, in the first hours after an upgrade from release 0.1.0: invoices of that release can be missing until all are listed.',
  }),
});
export type InvoiceList = z.infer<typeof InvoiceList>;

export interface InvoiceListReads extends InvoiceReads {
  allInvoices: Pick<AllInvoicesStore, 'page' | 'getCheck'>;
}

const CURSOR = /^\d{4}-\d{2}#inv_[0-9A-Za-z]+$/;

const checkCursor = ({ after, month }: InvoicesQuery): void => {
  if (after !== undefined && !(CURSOR.test(after) && after.startsWith(month ?? ''))) throw new WrongCursor();
};

interface Found {
  invoices: Invoice[];
  next: string | null;
}

const sumsOf = (invoices: readonly Invoice[]): InvoiceList['sums'] => {
  const sums = new Map<string, { invoices: number; totalNanos: bigint; creditedNanos: bigint }>();
  for (const { currency, total_nanos, credited_nanos } of invoices) {
    const sum = sums.get(currency) ?? { invoices: 0, totalNanos: 0n, creditedNanos: 0n };
    sum.invoices += 1;
    sum.totalNanos += total_nanos;
    sum.creditedNanos += credited_nanos;
    sums.set(currency, sum);
  }
  return [...sums].map(([currency, { invoices: count, totalNanos, creditedNanos }]) => ({
    currency,
    invoices: count,
    total: dollarsOf(totalNanos),
    credited: dollarsOf(creditedNanos),
  }));
};

const toList = ({ invoices, next }: Found, isComplete: boolean): InvoiceList => ({
  object: 'list',
  data: invoices.map(toSummary),
  has_more: next !== null,
  next,
  sums: sumsOf(invoices),
  is_complete: isComplete,
});

type InvoicePage = Awaited<ReturnType<InvoiceStore['list']>>;

// The invoices of one month are few, and fit a page.
const listPage = async ({ invoices }: InvoiceReads, organization: string, { month, limit, after }: InvoicesQuery): Promise<InvoicePage> => {
  if (month === undefined) return invoices.list(organization, { limit, after });
  if (after !== undefined) return { invoices: [], hasMore: false, next: null };
  return { invoices: (await invoices.ofMonth(organization, month)).reverse(), hasMore: false, next: null };
};

const ofOrganization = async (deps: InvoiceReads, actor: Actor, organization: string, query: InvoicesQuery): Promise<Found> => {
  const found: Invoice[] = [];
  let after = query.after;
  for (let reads = 1; ; reads++) {
    const { invoices, next } = await listPage(deps, organization, { ...query, after, limit: query.limit - found.length });
    found.push(...invoices.filter((invoice) => isVisibleTo(actor, invoice) && (query.state ?? invoice.state) === invoice.state));
    if (next === null || found.length >= query.limit || reads === MAX_READS) return { invoices: found, next };
    after = next;
  }
};

const ofAll = async ({ invoices, allInvoices }: InvoiceListReads, { state, month, limit, after }: InvoicesQuery): Promise<Found> => {
  const { entries, next } = await allInvoices.page({ state, month }, { limit, after });
  const found = await invoices.getMany([...new Set(entries.map(({ id }) => id))]);
  // An earlier release can have changed the state of an invoice without its entry.
  return { invoices: found.filter((invoice) => (state ?? invoice.state) === invoice.state), next };
};

/**
 * Lists invoices, newest month first: an organization's or, for the platform without an organization, those of all.
 * @throws 400, 404
 */
export const listInvoices = async (deps: InvoiceListReads, actor: Actor, query: InvoicesQuery): Promise<InvoiceList> => {
  checkCursor(query);
  if (!isOfPlatform(actor) || query.organization !== undefined)
    return toList(await ofOrganization(deps, actor, organizationFor(actor, query.organization), query), true);
  const [found, { finished }] = await Promise.all([ofAll(deps, query), deps.allInvoices.getCheck()]);
  return toList({ ...found, invoices: found.invoices.filter((invoice) => isVisibleTo(actor, invoice)) }, finished !== null);
};
