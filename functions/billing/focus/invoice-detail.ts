import type { CreditNote, Invoice, InvoiceLine } from '../../../shared/billing/invoice.ts';
import { endOfMonth, startOfMonth } from '../../../shared/billing/month.ts';
import { dollarsOf } from '../../../shared/prices/dollars.ts';
import { priceText, quantityOf, timeText } from './charge-units.ts';
import { CATEGORIES, detailIdOf, resourceOf, skuOf } from './charges.ts';
import { headerOf, INVOICE_DETAIL, type InvoiceDetailRow, linesOf } from './columns.ts';

export interface IssuedInvoice extends Invoice {
  number: string;
  seller: NonNullable<Invoice['seller']>;
  issued_at: number;
}

/** Narrows an invoice to an issued one. @throws Error if it is a draft */
export const issued = (invoice: Invoice): IssuedInvoice => {
  const { number, seller, issued_at } = invoice;
  if (number === null || seller === null || issued_at === null) throw new Error(`The invoice ${invoice.id} is not issued.`);
  return { ...invoice, number, seller, issued_at };
};

/** Terms of payment as invoices call them, such as `Net 30`. */
export const termsOf = (days: number): string => (days === 0 ? 'Due on receipt' : `Net ${days}`);

// Custom properties begin with `x_`.
const grainOf = (line: InvoiceLine): string => {
  const { model, token_kind, deployment, deployment_name, instance_type, price_version, rerate_from, month, is_correction, kind } = line;
  const { SkuId, SkuMeter, SkuPriceId } = skuOf({
    model,
    tokenKind: token_kind,
    instanceType: instance_type,
    priceVersion: price_version,
  });
  const { ResourceId, ResourceType } = resourceOf({ model, deployment, name: deployment_name });
  const grain = {
    ...(ResourceId !== null && { ResourceId, ResourceType }),
    ...(SkuId !== null && { SkuId, SkuMeter, SkuPriceId }),
    x_ChargeKind: kind,
    x_IsCorrection: is_correction,
    x_Month: month,
    ...(rerate_from && { x_RerateFrom: rerate_from }),
  };
  return JSON.stringify(grain);
};

const rowOf = (invoice: IssuedInvoice, line: InvoiceLine, index: number): InvoiceDetailRow => {
  const { quantity, unit } = quantityOf(line);
  return {
    BilledCost: dollarsOf(line.amount_nanos),
    BillingAccountId: invoice.organization,
    BillingCurrency: invoice.currency,
    BillingPeriodEnd: timeText(endOfMonth(invoice.month)),
    BillingPeriodStart: timeText(startOfMonth(invoice.month)),
    ChargeCategory: CATEGORIES[line.kind],
    InvoiceDetailCreated: timeText(invoice.created_at),
    InvoiceDetailDescription: line.description,
    InvoiceDetailGrain: grainOf(line),
    InvoiceDetailId: detailIdOf(invoice.number, index),
    InvoiceDetailLastUpdated: timeText(invoice.issued_at),
    InvoiceId: invoice.number,
    InvoiceIssueDate: timeText(invoice.issued_at),
    InvoiceIssueStatus: 'Issued',
    InvoiceIssuerName: invoice.seller.legal_name,
    PaymentCurrency: invoice.currency,
    PaymentDueDate: invoice.due_at === null ? null : timeText(invoice.due_at),
    PaymentTerms: termsOf(invoice.payment_terms_days),
    PurchaseOrderNumber: invoice.purchase_order,
    ReferenceInvoiceId: invoice.number,
    x_ChargeKind: line.kind,
    x_PricingQuantity: quantity,
    x_PricingUnit: unit,
    x_UnitPrice: priceText(line.unit_price_nanos),
  };
};

/**
 * An issued invoice as a file of FOCUS 1.4's dataset Invoice Detail: a row for each line, in their order. The costs add
 * up to the invoice's total.
 */
export const invoiceDetail = (invoice: IssuedInvoice): string =>
  headerOf(INVOICE_DETAIL) +
  linesOf(
    INVOICE_DETAIL,
    invoice.lines.map((line, i) => rowOf(invoice, line, i)),
  );

/**
 * A credit note as a file of the same dataset: one row, which names the corrected invoice.
 * @param month that of the corrected invoice
 */
export const creditNoteDetail = (note: CreditNote, month: string): string =>
  headerOf(INVOICE_DETAIL) +
  linesOf(INVOICE_DETAIL, [
    {
      BilledCost: dollarsOf(-note.amount_nanos),
      BillingAccountId: note.organization,
      BillingCurrency: note.currency,
      BillingPeriodEnd: timeText(endOfMonth(month)),
      BillingPeriodStart: timeText(startOfMonth(month)),
      ChargeCategory: 'Adjustment',
      InvoiceDetailCreated: timeText(note.issued_at),
      InvoiceDetailDescription: note.reason,
      InvoiceDetailGrain: JSON.stringify({ x_ChargeKind: 'credit_note', x_Month: month }),
      InvoiceDetailId: detailIdOf(note.number, 0),
      InvoiceDetailLastUpdated: timeText(note.issued_at),
      InvoiceId: note.number,
      InvoiceIssueDate: timeText(note.issued_at),
      InvoiceIssueStatus: 'Issued',
      InvoiceIssuerName: note.seller.legal_name,
      PaymentCurrency: note.currency,
      PaymentDueDate: null,
      PaymentTerms: termsOf(0),
      PurchaseOrderNumber: null,
      ReferenceInvoiceId: note.invoice_number,
      x_ChargeKind: 'credit_note',
      x_PricingQuantity: null,
      x_PricingUnit: null,
      x_UnitPrice: null,
    },
  ]);
