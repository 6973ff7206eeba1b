import type { ReplyBody } from '../../client/routes.ts';
import { fromUnits, sumOf, toUnits } from '../../design/format/amounts.ts';

export type InvoiceSummary = ReplyBody<'GET /v1/billing/invoices'>['data'][number];
type InvoiceList = ReplyBody<'GET /v1/billing/invoices'>;

export type InvoiceState = InvoiceSummary['state'];

type StateFacts = Pick<InvoiceSummary, 'state' | 'due_at' | 'total' | 'credited'>;

const isOverdue = (invoice: StateFacts, nowS: number): boolean => {
  const { state, due_at } = invoice;
  return state === 'issued' && due_at !== null && due_at < nowS && creditable(invoice) !== '0';
};

/**
 * The state of an invoice as people read it: overdue if something is left to pay after its time is over.
 * @param nowS Unix seconds
 */
export const shownStateOf = (invoice: StateFacts, nowS: number): InvoiceState | 'overdue' =>
  isOverdue(invoice, nowS) ? 'overdue' : invoice.state;

const MONTH = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** A UTC month such as `2026-10` as people read it. */
export const monthName = (month: string): string => MONTH.format(Date.parse(`${month}-01T00:00:00Z`));

/** How an invoice is called: by its number, which a draft doesn't have yet. */
export const invoiceName = ({ number, month }: Pick<InvoiceSummary, 'number' | 'month'>): string =>
  number ?? `Draft of ${monthName(month)}`;

/** The amount of an invoice that is still owed; null for a draft and a void one, of which nothing is. */
export const leftToPay = ({ state, total, credited }: Pick<InvoiceSummary, 'state' | 'total' | 'credited'>): string | null => {
  if (state === 'draft' || state === 'void') return null;
  return state === 'paid' ? '0' : creditable({ total, credited });
};

/** The part of an invoice that no credit note has taken off. */
export const creditable = ({ total, credited }: Pick<InvoiceSummary, 'total' | 'credited'>): string =>
  fromUnits(toUnits(total) - toUnits(credited));

/** The sums of several pages, by currency. */
export const sumsOf = (pages: readonly Pick<InvoiceList, 'sums'>[]): InvoiceList['sums'] => {
  const all = pages.flatMap(({ sums }) => sums);
  return [...new Set(all.map(({ currency }) => currency))].map((currency) => {
    const ofCurrency = all.filter((sum) => sum.currency === currency);
    return {
      currency,
      invoices: ofCurrency.reduce((count, { invoices }) => count + invoices, 0),
      total: sumOf(ofCurrency.map(({ total }) => total)),
      credited: sumOf(ofCurrency.map(({ credited }) => credited)),
    };
  });
};
