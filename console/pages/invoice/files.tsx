import { request } from '../../client/request.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Count, Money, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { DownloadButton } from '../../design/forms/download-button.tsx';
import { Section } from '../../design/layout/layout.tsx';
import type { CreditNote, Invoice } from './invoice.ts';

const FORMATS = [
  ['pdf', 'PDF'],
  ['csv', 'CSV, one row per invoice line'],
  ['focus', 'FOCUS 1.4 Invoice Detail'],
  ['json', 'JSON'],
] as const;
type Format = (typeof FORMATS)[number][0];

const HASH_SHOWN = 12;

/** Reads where a file of an invoice is. */
export const invoiceFile = (id: string, format: Format) =>
  request('GET /v1/billing/invoices/{id}/files/{format}', { parameters: { id, format } });

type FileRow = (typeof FORMATS)[number];

/** The files of an issued invoice. */
export const InvoiceFiles = ({ invoice: { id, number, files } }: { invoice: Invoice }) => {
  if (number === null) return null;
  const fileOf = (format: Format) => files.find((file) => file.format === format);
  const columns: readonly Column<FileRow>[] = [
    { title: 'File', render: ([, name]) => name },
    { title: 'Size (bytes)', isNumeric: true, render: ([format]) => <Count value={fileOf(format)?.bytes} /> },
    {
      title: 'SHA-256',
      hasIds: true,
      render: ([format]) => {
        const { sha256 } = fileOf(format) ?? {};
        return sha256 === undefined ? 'being created' : <CopyText text={sha256} label={`${sha256.slice(0, HASH_SHOWN)}…`} />;
      },
    },
    {
      title: 'Download',
      render: ([format, name]) => (
        <DownloadButton label="Download" name={`Download the file ${name}`} read={() => invoiceFile(id, format)} />
      ),
    },
  ];
  return (
    <Section title="Files">
      <Table label="Files of this invoice" rows={FORMATS} keyOf={([format]) => format} columns={columns} />
    </Section>
  );
};

const noteFile = (id: string) => request('GET /v1/billing/credit-notes/{id}/files/{format}', { parameters: { id, format: 'pdf' } });

const NOTE_COLUMNS: readonly Column<CreditNote>[] = [
  { title: 'Credit note', render: ({ number }) => number },
  { title: 'Amount', isNumeric: true, render: ({ amount, currency }) => <Money amount={amount} currency={currency} /> },
  { title: 'Reason', render: ({ reason }) => reason },
  { title: 'Issued', isWhole: true, render: ({ issued_at }) => <Time seconds={issued_at} /> },
  {
    title: 'Download',
    render: ({ id, number }) => <DownloadButton label="PDF" name={`Download PDF of ${number}`} read={() => noteFile(id)} />,
  },
];

/** The credit notes of an invoice, if there are any. */
export const CreditNotes = ({ notes, hasMore }: { notes: readonly CreditNote[]; hasMore: boolean }) =>
  notes.length === 0 ? null : (
    <Section title="Credit notes">
      <Table label="Credit notes of this invoice" rows={notes} keyOf={({ id }) => id} columns={NOTE_COLUMNS} />
      {hasMore && <Notice>Only the latest credit notes are shown. Use the API to list the earlier ones.</Notice>}
    </Section>
  );
