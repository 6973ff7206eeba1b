import type { ReactNode } from 'react';
import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Chip, Count, Money } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Section } from '../../design/layout/layout.tsx';
import { monthName } from '../invoices/invoice-state.ts';
import type { Invoice, InvoiceLine } from './invoice.ts';
import { addsUp, groupLines, type LineGroup, lineName, recordsAddress, usageAddress } from './line-groups.ts';

interface Row {
  key: string;
  name: ReactNode;
  /** Undefined: a sum. */
  line?: InvoiceLine;
  amount: string;
}

const UNITS = { token: 'per million', second: 'per hour' } as const;
const QUANTITIES = { token: 'tokens', second: 'seconds × instances' } as const;

const GroupName = ({ group: { name, month, isCorrection }, organization }: { group: LineGroup; organization: string | undefined }) => (
  <strong>
    <ScreenLink to={usageAddress(month, organization)}>{name}</ScreenLink>{' '}
    {isCorrection && <Chip state={`corrects ${monthName(month)}`} tone="warn" />}
  </strong>
);

const LineName = ({ line }: { line: InvoiceLine }) => (
  <>
    {lineName(line)}
    {line.price_version !== null && (
      <div>
        <code>{line.price_version}</code>
      </div>
    )}
  </>
);

const rowsOf = (group: LineGroup, organization: string | undefined): readonly Row[] => {
  const lines = group.lines.map((line, i) => ({ key: `${group.key} ${i}`, name: <LineName line={line} />, line, amount: line.amount }));
  // Lines that charge no usage, such as taxes, say themselves what they are.
  if (!group.isOfUsage) return lines;
  return [{ key: group.key, name: <GroupName group={group} organization={organization} />, amount: group.amount }, ...lines];
};

const isAfterSubtotal = ({ kind }: Invoice['lines'][number]): boolean => kind === 'tax' || kind === 'rounding';

// As the invoice's PDF has them.
const sumRows = ({ subtotal, tax, total, lines }: Invoice): readonly Row[] => [
  { key: 'subtotal', name: 'Subtotal', amount: subtotal },
  ...(lines.some(({ kind }) => kind === 'tax') ? [] : [{ key: 'tax', name: 'Taxes', amount: tax }]),
  ...lines
    .filter(isAfterSubtotal)
    .toSorted((one, other) => Number(one.kind === 'rounding') - Number(other.kind === 'rounding'))
    .map((line) => ({ key: `${line.kind} ${line.description}`, name: line.description, line, amount: line.amount })),
  { key: 'total', name: <strong>Total</strong>, amount: total },
];

interface AmountProps {
  row: Row;
  currency: string;
  organization: string | undefined;
}

const Amount = ({ row: { line, amount }, currency, organization }: AmountProps) => {
  const money = <Money amount={amount} currency={currency} />;
  if (!line) return <strong>{money}</strong>;
  const address = recordsAddress(line, organization);
  return address ? <ScreenLink to={address}>{money}</ScreenLink> : money;
};

const columnsFor = (currency: string, organization: string | undefined): readonly Column<Row>[] => [
  { title: 'Charge', render: ({ name }) => name },
  {
    title: 'Quantity',
    isNumeric: true,
    render: ({ line }) =>
      line?.unit && (
        <>
          <Count value={String(line.quantity)} /> {QUANTITIES[line.unit]}
        </>
      ),
  },
  {
    title: 'Price',
    isNumeric: true,
    render: ({ line }) =>
      line?.unit && (
        <>
          <Money amount={line.unit_price} currency={currency} /> {line.unit_price !== null && UNITS[line.unit]}
        </>
      ),
  },
  { title: 'Amount', isNumeric: true, render: (row) => <Amount row={row} currency={currency} organization={organization} /> },
];

/** The lines of an invoice by model and deployment, and their sums. */
export const InvoiceLines = ({ invoice }: { invoice: Invoice }) => {
  const me = useSignedIn();
  const organization = isOfPlatform(me) ? invoice.organization : undefined;
  const { currency, carried_forward, lines } = invoice;
  return (
    <Section title="Lines">
      {!addsUp(invoice) && <Notice tone="warn">The lines don't add up to the total. Open a ticket with the id of this invoice.</Notice>}
      <Table
        label="Lines of this invoice"
        rows={[
          ...groupLines(lines.filter((line) => !isAfterSubtotal(line))).flatMap((group) => rowsOf(group, organization)),
          ...sumRows(invoice),
        ]}
        keyOf={({ key }) => key}
        columns={columnsFor(currency, organization)}
      />
      {carried_forward.startsWith('-') && (
        <p>
          <Money amount={carried_forward} currency={currency} /> is carried forward to the next invoice.
        </p>
      )}
    </Section>
  );
};
