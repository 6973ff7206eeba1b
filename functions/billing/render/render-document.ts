import { sha256Of } from '../../../shared/billing/billing-files.ts';
import type { CreditNoteStore } from '../../../shared/billing/credit-note-store.ts';
import { type CreditNote, FILE_ENDINGS, type FileFormat, type Invoice, type RenderedFile } from '../../../shared/billing/invoice.ts';
import type { InvoiceStore } from '../../../shared/billing/invoice-store.ts';
import type { Database } from '../../../shared/database/database.ts';
import { transact } from '../../../shared/database/transaction.ts';
import { ResourceNotFound } from '../../../shared/http/errors.ts';
import { prefixes } from '../../../shared/ids/id.ts';
import { creditNoteDetail, type IssuedInvoice, invoiceDetail, issued } from '../focus/invoice-detail.ts';
import { creditNoteJson, invoiceJson } from './document-json.ts';
import type { Fonts } from './fonts.ts';
import { creditNoteCsv, invoiceCsv } from './invoice-csv.ts';
import type { WriteOnceFiles } from './write-once-files.ts';

export interface RenderDependencies {
  database: Database;
  invoices: Pick<InvoiceStore, 'get' | 'toReplace'>;
  creditNotes: Pick<CreditNoteStore, 'get' | 'toSetFiles'>;
  files: WriteOnceFiles;
  fonts: () => Promise<Fonts>;
}

// JSON comes first: the other formats print its hash.
const FORMATS: readonly FileFormat[] = ['json', 'csv', 'focus', 'pdf'];
const TYPES: Readonly<Record<FileFormat, string>> = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  focus: 'text/csv; charset=utf-8',
  pdf: 'application/pdf',
};

type Renderings = Readonly<Record<FileFormat, (made: Invoice['files']) => string | Promise<Uint8Array>>>;

const invoiceRenderings = (fonts: RenderDependencies['fonts'], invoice: Invoice): Renderings => {
  const document = issued(invoice);
  return {
    json: () => invoiceJson(document),
    csv: () => invoiceCsv(document),
    focus: () => invoiceDetail(document),
    pdf: async () => (await import('./invoice-pdf.ts')).invoicePdf(await fonts(), document),
  };
};

const creditNoteRenderings = (fonts: RenderDependencies['fonts'], note: CreditNote, invoice: IssuedInvoice): Renderings => ({
  json: () => creditNoteJson(note, invoice.month),
  csv: () => creditNoteCsv(note, invoice),
  focus: () => creditNoteDetail(note, invoice.month),
  pdf: async ({ json }) =>
    (await import('./credit-note-pdf.ts')).creditNotePdf(await fonts(), note, { invoice, sha256: json?.sha256 ?? '' }),
});

// A file that a crash has left in the bucket stays as it is, even if a newer release would make other bytes.
const makeFiles = async (
  { files }: Pick<RenderDependencies, 'files'>,
  { id, organization, files: made }: Pick<Invoice, 'id' | 'organization' | 'files'>,
  renderings: Renderings,
): Promise<Invoice['files']> => {
  const all = { ...made };
  for (const format of FORMATS) {
    if (all[format]) continue;
    const key = `invoices/${organization}/${id}${FILE_ENDINGS[format]}`;
    const stored = await files.putOnce(key, Buffer.from(await renderings[format](all)), TYPES[format]);
    all[format] = { key, sha256: sha256Of(stored), bytes: stored.length } satisfies RenderedFile;
  }
  return all;
};

const isWhole = (files: Invoice['files']): boolean => FORMATS.every((format) => files[format] !== undefined);

/**
 * Makes the files of an issued invoice or a credit note: JSON, CSV, FOCUS and PDF. Files that exist are kept.
 * @param document the id of either
 * @throws 404 if the organization does not have it; 412 if it was changed meanwhile, so that the task is repeated
 */
export const renderDocument = async (
  deps: RenderDependencies,
  { organization, document }: { organization: string; document: string },
): Promise<void> => {
  const { database, invoices, creditNotes, fonts } = deps;
  if (document.startsWith(prefixes.invoice)) {
    const invoice = await invoices.get(organization, document);
    if (isWhole(invoice.files)) return;
    const files = await makeFiles(deps, invoice, invoiceRenderings(fonts, invoice));
    await transact(database, invoices.toReplace(invoice, { files }));
    return;
  }
  if (!document.startsWith(prefixes.creditNote)) throw new ResourceNotFound('document', document);
  const note = await creditNotes.get(organization, document);
  if (isWhole(note.files)) return;
  const invoice = issued(await invoices.get(organization, note.invoice));
  const files = await makeFiles(deps, note, creditNoteRenderings(fonts, note, invoice));
  await transact(database, [creditNotes.toSetFiles(note, files)]);
};
