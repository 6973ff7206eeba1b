import { Link } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { useList, useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import { type Column, Table } from '../../design/data/table.tsx';
import { Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { perMillion } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { formatStart, formatUtc } from '../../design/format/times.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { PriceHistory } from './price-history.tsx';

type Priced = ReplyBody<'GET /v1/pricing/serverless'>['pricing'][number];
type Model = ReplyBody<'GET /v1/models'>['data'][number];

const nameColumn = <Row,>(nameOf: (row: Row) => string, organization?: string): Column<Row> => ({
  title: 'Model',
  render: (row) => (
    <Link to={`/prices?${new URLSearchParams({ model: nameOf(row), ...(organization && { organization }) })}`}>{nameOf(row)}</Link>
  ),
});

const SharedModels = () => {
  const query = useRead('GET /v1/pricing/serverless', {});
  return (
    <Loaded query={query}>
      {({ pricing }) =>
        pricing.length === 0 ? (
          <Empty title="No shared model has a price yet">
            <p>Enter the name of a model to add a price. You can then publish the model.</p>
          </Empty>
        ) : (
          <Table
            label="Shared models"
            rows={pricing}
            keyOf={({ model }) => model}
            columns={[
              nameColumn<Priced>(({ model }) => model),
              { title: 'Input / M', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.prompt} /> },
              { title: 'Cached / M', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.cached_prompt} /> },
              { title: 'Output / M', isNumeric: true, render: ({ per_million }) => <Money amount={per_million.completion} /> },
              { title: 'Effective from', isWhole: true, render: ({ effective_at }) => formatStart(effective_at) },
              { title: 'Next price', isWhole: true, render: ({ next }) => (next ? `from ${formatUtc(next.effective_at)}` : 'none') },
            ]}
          />
        )
      }
    </Loaded>
  );
};

const OwnModels = ({ organization }: { organization: string }) => {
  const query = useList('GET /v1/models', { query: { organization } });
  return (
    <PagedTable
      label="Models of the organization"
      query={query}
      keyOf={({ name }) => name}
      columns={[
        nameColumn<Model>(({ name }) => name, organization),
        { title: 'Input / M', isNumeric: true, render: ({ pricing }) => <Money amount={pricing && perMillion(pricing.prompt)} /> },
        { title: 'Output / M', isNumeric: true, render: ({ pricing }) => <Money amount={pricing && perMillion(pricing.completion)} /> },
      ]}
      empty={
        <Empty title="This organization has no models of its own">
          <p>Only deployments are an organization's own models. All organizations pay the same prices for shared models.</p>
        </Empty>
      }
    />
  );
};

/** The price versions of models: those that apply, past and scheduled ones. */
export const Screen = () => {
  const me = useSignedIn();
  const [{ model, organization }, change] = useUrlStates(['model', 'organization']);
  return (
    <Page
      title="Prices"
      description={`In ${ownCurrency().code} per million tokens. A price version never changes: a new version replaces it from its start time.`}
      actions={model && <Button onClick={() => change({ model: '' })}>All models</Button>}
    >
      <Filters>
        <FilterField label="Model" value={model} onChange={(text) => change({ model: text })} />
        <OrganizationField value={organization} onChange={(text) => change({ organization: text })} />
      </Filters>
      {model ? (
        <PriceHistory key={`${organization} ${model}`} model={model} organization={organization} />
      ) : organization === '' ? (
        <SharedModels />
      ) : can(me, 'models:read') ? (
        <OwnModels organization={organization} />
      ) : (
        <Empty title="Enter a model">
          <p>Enter the name of one of the organization's deployments.</p>
        </Empty>
      )}
    </Page>
  );
};
