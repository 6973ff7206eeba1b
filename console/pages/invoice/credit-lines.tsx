import { type Column, Table } from '../../design/data/table.tsx';
import { Money } from '../../design/data/values.tsx';
import { Section } from '../../design/layout/layout.tsx';
import type { CreditNote } from './invoice.ts';

interface Row {
  key: string;
  text: string;
  base: string | null;
  percent: number | null;
  amount: string;
  isSum: boolean;
}

const rowsOf = ({ lines, amount }: CreditNote): readonly Row[] => [
  ...lines.map((line, i) => ({
    key: String(i),
    text: line.description,
    base: line.base,
    percent: line.percent,
    amount: line.amount,
    isSum: false,
  })),
  { key: 'sum', text: 'Credit', base: null, percent: null, amount, isSum: true },
];

const columnsFor = (currency: string): readonly Column<Row>[] => [
  { title: 'Missed promise', render: ({ text, isSum }) => (isSum ? <strong>{text}</strong> : text) },
  { title: 'Charges', isNumeric: true, render: ({ base }) => base !== null && <Money amount={base} currency={currency} /> },
  { title: 'Share', isNumeric: true, render: ({ percent }) => percent !== null && `${percent}%` },
  { title: 'Credit', isNumeric: true, render: ({ amount }) => <Money amount={amount} currency={currency} /> },
];

/** The lines of a credit note for service levels: each missed promise, with the numbers that prove it. */
export const CreditLines = ({ note }: { note: CreditNote }) =>
  note.lines.length === 0 ? null : (
    <Section title={`Missed promises of ${note.number}`}>
      <Table label={`Lines of ${note.number}`} columns={columnsFor(note.currency)} rows={rowsOf(note)} keyOf={({ key }) => key} />
    </Section>
  );
