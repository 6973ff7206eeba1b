import type { ReplyBody } from '../../client/routes.ts';

export type Invoice = ReplyBody<'GET /v1/billing/invoices/{id}'>;
export type InvoiceLine = Invoice['lines'][number];
export type CreditNote = ReplyBody<'GET /v1/billing/credit-notes/{id}'>;
