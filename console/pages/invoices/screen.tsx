import { useState } from 'react';
import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { Segments } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import { Money } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { formatCount } from '../../design/format/amounts.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page, Row } from '../../design/layout/layout.tsx';
import { type Choosing, invoiceColumns } from './invoice-columns.tsx';
import { type InvoiceSummary, sumsOf } from './invoice-state.ts';
import { IssueDrafts } from './issue-drafts.tsx';
import { INVOICE_FILTERS, invoicesQuery, stateChoices } from './list-query.ts';

const NoInvoices = ({ me, isFiltered }: { me: Me; isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No invoices match these filters" />
  ) : (
    <Empty title="No invoices yet">
      <p>
        Each month's usage is invoiced at 01:00 UTC on the 1st of the next month. A month without usage has no invoice.
        {isOfPlatform(me) && " Set the seller first: drafts can't be issued without one."}
      </p>
      <ButtonLink to="/usage">View usage and costs</ButtonLink>
    </Empty>
  );

// Drafts of one page after the other, each reviewed by somebody.
const useChosen = (): Choosing => {
  const [chosen, setChosen] = useState<ReadonlyMap<string, InvoiceSummary>>(new Map());
  const choose = (invoice: InvoiceSummary, isChosen: boolean) => {
    const next = new Map(chosen);
    if (isChosen) next.set(invoice.id, invoice);
    else next.delete(invoice.id);
    setChosen(next);
  };
  return { chosen, choose, clear: () => setChosen(new Map()) };
};

const InvoiceList = ({ me }: { me: Me }) => {
  const issues = can(me, 'billing:issue');
  const [filters] = useUrlStates(INVOICE_FILTERS);
  const query = useList('GET /v1/billing/invoices', { query: invoicesQuery(filters, issues) });
  const choosing = useChosen();
  const [isIssuing, setIssuing] = useState(false);
  const drafts = [...choosing.chosen.values()];
  const pages = query.data ?? [];
  return (
    <>
      {pages.some(({ is_complete }) => !is_complete) && (
        <Notice tone="warn">The list may be incomplete: invoices from an earlier release are added within a few hours.</Notice>
      )}
      {drafts.length > 0 && (
        <Row>
          <Button look="primary" onClick={() => setIssuing(true)}>
            Issue {drafts.length === 1 ? 'reviewed draft' : `${drafts.length} reviewed drafts`}
          </Button>
          <Button onClick={choosing.clear}>Clear</Button>
        </Row>
      )}
      <PagedTable
        label="Invoices"
        query={query}
        keyOf={({ id }) => id}
        columns={invoiceColumns(isOfPlatform(me), issues ? choosing : undefined)}
        empty={<NoInvoices me={me} isFiltered={Object.values(filters).some(Boolean)} />}
        progress={sumsOf(pages).map(({ currency, invoices, total, credited }) => (
          <span key={currency}>
            {formatCount(invoices)} {invoices === 1 ? 'invoice' : 'invoices'} totaling <Money amount={total} currency={currency} />,{' '}
            <Money amount={credited} currency={currency} /> credited
          </span>
        ))}
      />
      {isIssuing && (
        <IssueDrafts
          drafts={drafts}
          onClose={() => {
            setIssuing(false);
            choosing.clear();
          }}
        />
      )}
    </>
  );
};

/** The invoices of an organization, or of all. */
export const Screen = () => {
  const me = useSignedIn();
  const [filters, change] = useUrlStates(INVOICE_FILTERS);
  return (
    <Page
      title="Invoices"
      description={
        can(me, 'billing:issue')
          ? 'Invoices of all organizations, newest month first. Review each draft, select it, and issue the reviewed drafts.'
          : 'One invoice for each month with usage, created from its usage records. Open an invoice for its lines and files.'
      }
      actions={<ButtonLink to="/billing">Billing</ButtonLink>}
    >
      <Filters>
        <Segments
          label="State"
          value={filters.state}
          choices={stateChoices(can(me, 'billing:issue'))}
          onChange={(state) => change({ state })}
        />
        <FilterField label="Month (UTC)" type="month" placeholder="2026-10" value={filters.month} onChange={(month) => change({ month })} />
        <OrganizationField value={filters.organization} onChange={(organization) => change({ organization })} />
      </Filters>
      <InvoiceList key={JSON.stringify(filters)} me={me} />
    </Page>
  );
};
