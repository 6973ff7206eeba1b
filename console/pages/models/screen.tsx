import { Link } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { useUrlState } from '../../client/url-state.ts';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Count, Money } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { perMillion } from '../../design/format/amounts.ts';
import { ownCurrency } from '../../design/format/currency.ts';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { modelPath } from './model-path.ts';
import { ModelStatus } from './model-status.tsx';
import { PriceTable } from './price-table.tsx';

type Model = ReplyBody<'GET /v1/models'>['data'][number];

const AT_ONCE = 100;

const priceColumn = (title: string, kind: keyof NonNullable<Model['pricing']>): Column<Model> => ({
  title,
  isNumeric: true,
  render: ({ pricing }) => <Money amount={pricing && perMillion(pricing[kind])} />,
});

const COLUMNS: readonly Column<Model>[] = [
  { title: 'Model', render: ({ name, organization }) => <Link to={modelPath(name, organization)}>{name}</Link> },
  { title: 'State', isWhole: true, render: (model) => <ModelStatus model={model} /> },
  { title: 'Kind', isWhole: true, render: ({ organization }) => (organization === null ? 'shared model' : 'deployment') },
  { title: 'Task', isWhole: true, render: ({ task }) => task },
  { title: 'Context', isNumeric: true, render: ({ context_length }) => <Count value={context_length} /> },
  { title: 'Max output', isNumeric: true, render: ({ max_output_tokens }) => <Count value={max_output_tokens} /> },
  priceColumn('Input / M', 'prompt'),
  priceColumn('Cached / M', 'cached_prompt'),
  priceColumn('Output / M', 'completion'),
];

const Models = () => {
  const me = useSignedIn();
  const [organization, setOrganization] = useUrlState<string>('organization', '');
  const query = useList('GET /v1/models', { query: { limit: AT_ONCE, organization } });
  return (
    <>
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={organization} onChange={setOrganization} />
        </Filters>
      )}
      <PagedTable
        label="Models"
        query={query}
        columns={COLUMNS}
        keyOf={({ name, organization: of }) => `${of} ${name}`}
        empty={
          <Empty title="No models yet">
            <p>
              {isOfPlatform(me)
                ? 'Register a model with npm run admin -- models, or deploy one and publish it.'
                : 'Shared models appear here when the platform publishes them, and your deployments when they run.'}
            </p>
          </Empty>
        }
      />
    </>
  );
};

/** The models that requests can use, with their prices. */
export const Screen = () => {
  const me = useSignedIn();
  return (
    <Page
      title="Models and prices"
      description={`${can(me, 'models:read') ? 'The models that your requests can use' : 'The shared models'}. Prices are in ${ownCurrency().code} per million tokens.`}
    >
      {can(me, 'models:read') ? <Models /> : <PriceTable />}
    </Page>
  );
};
