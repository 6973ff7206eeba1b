import { createCreditNoteStore } from '../../shared/billing/credit-note-store.ts';
import type { CreditNote, Invoice } from '../../shared/billing/invoice.ts';
import { createInvoiceStore } from '../../shared/billing/invoice-store.ts';
import { createAccountTable } from '../../shared/database/record-table.ts';
import { transact } from '../../shared/database/transaction.ts';
import { newTimedId } from '../../shared/ids/id.ts';
import type { TestDatabase } from './database.ts';

const DOLLAR = 1_000_000_000n;

/** A draft of 100 dollars for an organization's usage of a month. */
export const newInvoice = (fields: Partial<Invoice> & Pick<Invoice, 'organization'>): Invoice => {
  const { month = '2026-10', total_nanos = 100n * DOLLAR, created_at = Date.UTC(2026, 10, 1, 1) } = fields;
  return {
    id: newTimedId('invoice', created_at),
    month,
    state: 'draft',
    number: null,
    currency: 'USD',
    currency_symbol: '$',
    seller: null,
    buyer: { legal_name: 'Acme', address: null, tax_id: null, email: null },
    purchase_order: null,
    payment_terms_days: 30,
    payment_instructions: null,
    lines: [
      {
        kind: 'tokens',
        description: 'qwen3-8b, completion tokens',
        month,
        is_correction: false,
        model: 'qwen3-8b',
        token_kind: 'completion',
        deployment: null,
        deployment_name: null,
        instance_type: null,
        price_version: 'price_1',
        quantity: 9_007_199_254_740_993n,
        unit: 'token',
        unit_price_nanos: 200_000_000n,
        amount_nanos: total_nanos,
      },
    ],
    subtotal_nanos: total_nanos,
    tax_nanos: 0n,
    total_nanos,
    carried_forward_nanos: 0n,
    credited_nanos: 0n,
    inputs_sha256: 'a'.repeat(64),
    inputs: { key: `billed/${fields.organization}/${month}/inputs.json`, sha256: 'a'.repeat(64), bytes: 2 },
    replaced: [{ month, before: null }],
    release: '0.1.0',
    created_at,
    issued_at: null,
    due_at: null,
    paid_at: null,
    payment_reference: null,
    voided_at: null,
    void_reason: null,
    files: {},
    version: 1,
    ...fields,
  };
};

/** Stores an issued invoice of an organization, and a credit note of it, without what they bill. */
export const storeInvoice = async (
  { database, tables }: Pick<TestDatabase, 'database' | 'tables'>,
  organization: string,
): Promise<{ invoiceId: string; creditNoteId: string }> => {
  const billing = createAccountTable(database, tables.Billing as string);
  const issued_at = Date.UTC(2026, 10, 1, 2);
  const seller = { legal_name: 'Example Inference GmbH', address: null, tax_id: null, email: null };
  const issued = { state: 'issued', number: 'INV-000001', seller, issued_at, due_at: issued_at, credited_nanos: DOLLAR } as const;
  const invoice = newInvoice({ organization, ...issued });
  const { currency, currency_symbol, buyer } = invoice;
  const note: CreditNote = {
    id: newTimedId('creditNote', issued_at),
    organization,
    number: 'CN-000001',
    invoice: invoice.id,
    invoice_number: issued.number,
    currency,
    currency_symbol,
    seller,
    buyer,
    reason: 'test',
    amount_nanos: DOLLAR,
    issued_at,
    files: {},
    version: 1,
  };
  await transact(database, [...createInvoiceStore(billing).toCreate(invoice), ...createCreditNoteStore(billing).toCreate(note)]);
  return { invoiceId: invoice.id, creditNoteId: note.id };
};
