import { createRoute } from '../../access/route.ts';
import { Download, type SignDownload } from '../downloads/download.ts';
import { deleteDraft, InvoicePayment, issueDraft, payInvoice, VoidReason, voidInvoice } from './change-invoice.ts';
import { downloadInvoice } from './download-invoice.ts';
import { visibleInvoice } from './find-invoice.ts';
import { InvoiceResource, toInvoiceResource } from './invoice-resource.ts';
import { InvoiceList, type InvoiceListReads, InvoicesQuery, listInvoices } from './list-invoices.ts';
import { Closing, NewInvoice, type RequestDependencies, requestInvoice } from './request-invoice.ts';

const route = createRoute<RequestDependencies & InvoiceListReads & { signDownload: SignDownload }>('Billing');
const invoices = '/v1/billing/invoices';
const oneInvoice = `${invoices}/{id}`;
const id = { description: 'The id of an invoice.', example: 'inv_VbdBUPc4RtYvB8fK2m' } as const;
const invoice = { name: 'Invoice', schema: InvoiceResource } as const;
const change = {
  access: 'billing:issue',
  needsFreshLogin: true,
  parameters: { id },
  isVersioned: true,
  reply: { status: 200, description: 'The invoice.', json: invoice },
  errors: [404, 409, 412, 503],
} as const;

export const invoiceRoutes = [
  route(
    {
      method: 'POST',
      path: invoices,
      operationId: 'createInvoice',
      summary: 'Close a month, and make its invoice',
      description:
        'Months are closed automatically, at 01:00 UTC on the 1st. Use this to make an invoice again after the last one became void or its draft was deleted. The reply comes at once; a month without usage gets no invoice.',
      access: 'billing:issue',
      needsFreshLogin: true,
      body: { name: 'NewInvoice', schema: NewInvoice, example: { organization: 'org_VbdBUPc4RtYvB8fK2m', month: '2026-10' } },
      reply: { status: 202, description: 'The month is being closed.', json: { name: 'Closing', schema: Closing } },
      errors: [404, 409, 503],
    },
    ({ deps, actor, body }) => requestInvoice(deps, actor, body),
  ),
  route(
    {
      method: 'GET',
      path: invoices,
      operationId: 'listInvoices',
      summary: 'List invoices',
      description:
        "Drafts require `billing:issue`. Without `organization`, the platform's users get the invoices of all organizations. A page can have fewer entries than `limit` although `has_more` is true.",
      access: 'billing:read',
      query: InvoicesQuery,
      reply: {
        status: 200,
        description: 'A page of invoices without their lines, newest month first.',
        json: { name: 'InvoiceList', schema: InvoiceList },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listInvoices(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: oneInvoice,
      operationId: 'retrieveInvoice',
      summary: 'Retrieve an invoice with its lines',
      access: 'billing:read',
      parameters: { id },
      reply: change.reply,
      errors: [404, 503],
    },
    async ({ deps, actor, parameters }) => toInvoiceResource(await visibleInvoice(deps, actor, parameters.id ?? '')),
  ),
  route(
    {
      method: 'DELETE',
      path: oneInvoice,
      operationId: 'deleteInvoice',
      summary: 'Delete a draft',
      description:
        'The draft becomes void without a number, and its organization never sees it. To replace a draft, delete it and close its month again.',
      ...change,
      reply: { status: 200, description: 'The draft, which is void now.', json: invoice },
    },
    ({ deps, actor, parameters, expected }) => deleteDraft(deps, actor, parameters.id ?? '', expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneInvoice}/issue`,
      operationId: 'issueInvoice',
      summary: 'Issue a draft',
      description:
        'Gives the invoice the next number and copies the seller, the buyer and the payment terms to it. Nothing that it prints changes after that.',
      ...change,
    },
    ({ deps, actor, parameters, expected }) => issueDraft(deps, actor, parameters.id ?? '', expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneInvoice}/pay`,
      operationId: 'payInvoice',
      summary: 'Record that an invoice was paid',
      ...change,
      body: { name: 'Payment', schema: InvoicePayment, example: { paid_at: 1_764_547_200, reference: 'Transfer 2026-11-30/17' } },
      errors: [400, ...change.errors],
    },
    ({ deps, actor, parameters, body, expected }) => payInvoice(deps, actor, parameters.id ?? '', body, expected),
  ),
  route(
    {
      method: 'POST',
      path: `${oneInvoice}/void`,
      operationId: 'voidInvoice',
      summary: 'Void an issued invoice',
      description:
        'The invoice keeps its number, and its usage is not billed any more, so that its month can be closed again. Once it is paid, has credit notes or a later invoice builds on it, use a credit note instead.',
      ...change,
      body: { name: 'VoidReason', schema: VoidReason, example: { reason: 'Sent to the wrong company.' } },
      errors: [400, ...change.errors],
    },
    ({ deps, actor, parameters, body, expected }) => voidInvoice(deps, actor, parameters.id ?? '', body, expected),
  ),
  route(
    {
      method: 'GET',
      path: `${oneInvoice}/files/{format}`,
      operationId: 'downloadInvoice',
      summary: 'Download an invoice',
      description:
        'Returns a URL that works for five minutes. The files are made once, a few seconds after the issue; until then, you get a 409 (`not_rendered_yet`) with `Retry-After`.',
      access: 'billing:read',
      parameters: { id, format: { description: '`pdf`, `csv`, `focus` (FOCUS 1.4 Invoice Detail) or `json`.', example: 'pdf' } },
      reply: { status: 200, description: 'Where to download the file.', json: { name: 'Download', schema: Download } },
      errors: [404, 409, 503],
    },
    ({ deps, actor, parameters }) => downloadInvoice(deps, actor, parameters.id ?? '', parameters.format ?? ''),
  ),
];
