import { useParams } from 'wouter';
import { isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { ScreenLink } from '../../design/controls/screen-link.tsx';
import { Chip, Money, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Facts, Page, Section, Tile, Tiles } from '../../design/layout/layout.tsx';
import { invoiceName, leftToPay, monthName, shownStateOf } from '../invoices/invoice-state.ts';
import { InvoiceActions } from './actions.tsx';
import { InvoiceAnnex } from './annex.tsx';
import { CreditLines } from './credit-lines.tsx';
import { CreditNotes, InvoiceFiles } from './files.tsx';
import { historyOf } from './history.ts';
import type { CreditNote, Invoice } from './invoice.ts';
import { InvoiceLines } from './lines.tsx';
import { Parties } from './parties.tsx';

const MAX_NOTES = 100;

const Amounts = ({ invoice }: { invoice: Invoice }) => {
  const { total, credited, currency, due_at, paid_at, state } = invoice;
  return (
    <Tiles>
      <Tile label="Total" value={<Money amount={total} currency={currency} />} note={monthName(invoice.month)} />
      <Tile label="Credited" value={<Money amount={credited} currency={currency} />} />
      <Tile
        label="Amount due"
        value={<Money amount={leftToPay(invoice)} currency={currency} />}
        note={
          state === 'paid' ? (
            <>
              paid <Time seconds={paid_at} />
            </>
          ) : (
            due_at !== null && (
              <>
                due <Time seconds={due_at} />
              </>
            )
          )
        }
      />
    </Tiles>
  );
};

const History = ({ invoice, notes }: { invoice: Invoice; notes: readonly CreditNote[] }) => (
  <Section title="History" isCard>
    <Facts
      facts={historyOf(invoice, notes).map(({ at, text, amount, remark }) => [
        text,
        <span key={text}>
          <Time seconds={at} /> {amount !== undefined && <Money amount={amount} currency={invoice.currency} />} {remark}
        </span>,
      ])}
    />
  </Section>
);

const InvoicePage = ({ invoice }: { invoice: Invoice }) => {
  const me = useSignedIn();
  const { id, organization, buyer, state } = invoice;
  const query = { invoice: id, limit: MAX_NOTES, ...(isOfPlatform(me) && { organization }) };
  const notes = useRead('GET /v1/billing/credit-notes', { query }, { enabled: invoice.number !== null });
  const found = notes.data?.data ?? [];
  return (
    <Page
      title={invoiceName(invoice)}
      status={<Chip state={shownStateOf(invoice, Date.now() / 1_000)} />}
      description={
        <>
          {isOfPlatform(me) ? `${buyer.legal_name}, ${monthName(invoice.month)}. ` : ''}
          <ScreenLink to={state === 'draft' ? '/invoices?state=draft' : '/invoices'}>
            {state === 'draft' ? 'All drafts' : 'All invoices'}
          </ScreenLink>
        </>
      }
      actions={<InvoiceActions invoice={invoice} />}
    >
      <Amounts invoice={invoice} />
      <InvoiceLines invoice={invoice} />
      <InvoiceAnnex invoice={invoice} />
      {notes.error && <Loaded query={notes}>{() => null}</Loaded>}
      <CreditNotes notes={found} hasMore={notes.data?.has_more === true} />
      {found.map((note) => (
        <CreditLines key={note.id} note={note} />
      ))}
      <InvoiceFiles invoice={invoice} />
      <History invoice={invoice} notes={found} />
      <Parties invoice={invoice} />
    </Page>
  );
};

/** One invoice. */
export const Screen = () => {
  const { id = '' } = useParams();
  const invoice = useRead('GET /v1/billing/invoices/{id}', { parameters: { id } });
  if (invoice.data) return <InvoicePage invoice={invoice.data} />;
  return (
    <Page title="Invoice">
      <Loaded query={invoice}>{() => null}</Loaded>
    </Page>
  );
};
