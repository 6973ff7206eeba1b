import { Link } from 'wouter';
import { CheckField } from '../../design/controls/fields.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Money, Time } from '../../design/data/values.tsx';
import { type InvoiceSummary, invoiceName, leftToPay, monthName, shownStateOf } from './invoice-state.ts';

/** The drafts that somebody has reviewed. */
export interface Choosing {
  chosen: ReadonlyMap<string, InvoiceSummary>;
  choose: (invoice: InvoiceSummary, isChosen: boolean) => void;
  clear: () => void;
}

const choiceColumn = ({ chosen, choose }: Choosing): Column<InvoiceSummary> => ({
  title: 'Reviewed',
  render: (invoice) =>
    invoice.state === 'draft' && (
      <CheckField
        label={`Reviewed: ${invoice.buyer.legal_name}, ${monthName(invoice.month)}`}
        isLabelHidden
        checked={chosen.has(invoice.id)}
        onChange={(isChosen) => choose(invoice, isChosen)}
      />
    ),
});

const buyerColumn: Column<InvoiceSummary> = { title: 'Customer', render: ({ buyer }) => buyer.legal_name };

/**
 * The columns of a list of invoices.
 * @param isOfAll its invoices are of several organizations
 * @param choosing undefined: drafts can't be issued from the list
 */
export const invoiceColumns = (isOfAll: boolean, choosing: Choosing | undefined): readonly Column<InvoiceSummary>[] => [
  { title: 'Invoice', render: (invoice) => <Link to={`/invoices/${invoice.id}`}>{invoiceName(invoice)}</Link> },
  ...(isOfAll ? [buyerColumn] : []),
  { title: 'Month', isWhole: true, render: ({ month }) => monthName(month) },
  { title: 'State', render: (invoice) => <Chip state={shownStateOf(invoice, Date.now() / 1_000)} /> },
  { title: 'Total', isNumeric: true, render: ({ total, currency }) => <Money amount={total} currency={currency} /> },
  { title: 'Credited', isNumeric: true, render: ({ credited, currency }) => <Money amount={credited} currency={currency} /> },
  {
    title: 'Amount due',
    isNumeric: true,
    render: (invoice) => <Money amount={leftToPay(invoice)} currency={invoice.currency} />,
  },
  { title: 'Issued', isWhole: true, render: ({ issued_at }) => <Time seconds={issued_at} never="not yet" /> },
  { title: 'Due', isWhole: true, render: ({ due_at }) => <Time seconds={due_at} never="–" /> },
  ...(choosing ? [choiceColumn(choosing)] : []),
];
