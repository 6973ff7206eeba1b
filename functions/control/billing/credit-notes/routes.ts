import { idempotencyKeyOf } from '../../../../shared/http/idempotency-key.ts';
import { pageOf } from '../../../../shared/http/page.ts';
import { createRoute } from '../../access/route.ts';
import { Download, type SignDownload } from '../downloads/download.ts';
import { type CreditNoteDependencies, createCreditNote } from './create-credit-note.ts';
import { CreditNoteResource, NewCreditNote, toCreditNoteResource } from './credit-note-resource.ts';
import { CreditNotesQuery, downloadCreditNote, listCreditNotes, visibleCreditNote } from './find-credit-note.ts';

const route = createRoute<CreditNoteDependencies & { signDownload: SignDownload }>('Billing');
const creditNotes = '/v1/billing/credit-notes';
const id = { description: 'The id of a credit note.', example: 'cn_VbdBUPc4RtYvB8fK2m' } as const;
const creditNote = { name: 'CreditNote', schema: CreditNoteResource } as const;

export const creditNoteRoutes = [
  route(
    {
      method: 'POST',
      path: '/v1/billing/invoices/{id}/credit-notes',
      operationId: 'createCreditNote',
      summary: 'Credit an invoice, or a part of it',
      description:
        'Only for issued and paid invoices. All credit notes of an invoice together are at most its total. A credit note never changes. With an `Idempotency-Key`, a repeated request does not credit again.',
      access: 'billing:issue',
      needsFreshLogin: true,
      parameters: { id: { description: 'The id of an invoice.', example: 'inv_VbdBUPc4RtYvB8fK2m' } },
      isIdempotent: true,
      body: { name: 'NewCreditNote', schema: NewCreditNote, example: { amount: '12.50', reason: 'Outage on 2026-10-17' } },
      reply: { status: 201, description: 'The credit note.', json: creditNote },
      errors: [400, 404, 409, 422, 503],
    },
    ({ deps, actor, parameters, body, event }) => createCreditNote(deps, actor, parameters.id ?? '', body, idempotencyKeyOf(event)),
  ),
  route(
    {
      method: 'GET',
      path: creditNotes,
      operationId: 'listCreditNotes',
      summary: 'List the credit notes of an organization',
      access: 'billing:read',
      query: CreditNotesQuery,
      reply: {
        status: 200,
        description: 'A page of credit notes, newest first.',
        json: { name: 'CreditNoteList', schema: pageOf(CreditNoteResource) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listCreditNotes(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: `${creditNotes}/{id}`,
      operationId: 'retrieveCreditNote',
      summary: 'Retrieve a credit note',
      access: 'billing:read',
      parameters: { id },
      reply: { status: 200, description: 'The credit note.', json: creditNote },
      errors: [404, 503],
    },
    async ({ deps, actor, parameters }) => toCreditNoteResource(await visibleCreditNote(deps, actor, parameters.id ?? '')),
  ),
  route(
    {
      method: 'GET',
      path: `${creditNotes}/{id}/files/{format}`,
      operationId: 'downloadCreditNote',
      summary: 'Download a credit note',
      description:
        'Returns a URL that works for five minutes. The files are made once, a few seconds after the issue; until then, you get a 409 (`not_rendered_yet`) with `Retry-After`.',
      access: 'billing:read',
      parameters: { id, format: { description: '`pdf`, `csv`, `focus` (FOCUS 1.4 Invoice Detail) or `json`.', example: 'pdf' } },
      reply: { status: 200, description: 'Where to download the file.', json: { name: 'Download', schema: Download } },
      errors: [404, 409, 503],
    },
    ({ deps, actor, parameters }) => downloadCreditNote(deps, actor, parameters.id ?? '', parameters.format ?? ''),
  ),
];
