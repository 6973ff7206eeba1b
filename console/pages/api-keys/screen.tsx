import { Link } from 'wouter';
import { can, isOfPlatform, type Me, seesOnlyOwn, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState, useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Count, Money, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { ProjectFilter } from '../../design/forms/project-filter.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyActions } from './key-actions.tsx';
import type { ApiKey } from './key-draft.ts';
import { KEY_FILTERS, keysQueryOf } from './key-filters.ts';
import { keyStateOf } from './key-state.ts';

const AT_ONCE = 100;

const columnsFor = (me: Me): readonly Column<ApiKey>[] => [
  {
    title: 'Name',
    render: ({ id, name, hint }) => (
      <>
        <Link to={`/api-keys/${id}`}>{name}</Link> <code data-whole>{hint}</code>
      </>
    ),
  },
  { title: 'State', render: (key) => <Chip state={keyStateOf(key, Date.now() / 1_000)} /> },
  {
    title: 'Models',
    hasIds: true,
    render: ({ scope, models }) => models?.join(', ') ?? (scope === 'serverless' ? 'shared models' : 'deployments'),
  },
  { title: 'Requests per minute', isNumeric: true, render: ({ limits }) => <Count value={limits.requests_per_minute} /> },
  { title: 'Budget per month', isNumeric: true, render: ({ budgets }) => <Money amount={budgets.month} /> },
  { title: 'Last used', render: ({ last_used_at }) => <Time seconds={last_used_at} /> },
  { title: 'Expires', render: ({ expires_at }) => <Time seconds={expires_at} /> },
  ...(seesOnlyOwn(me)
    ? []
    : [{ title: 'Created by', render: ({ created_by }: ApiKey) => (created_by === me.id ? 'you' : <code>{created_by}</code>) }]),
  ...(can(me, 'keys:write') ? [{ title: 'Actions', render: (key: ApiKey) => <KeyActions apiKey={key} isMenu /> }] : []),
];

const KeyList = ({ organization }: { organization: string | undefined }) => {
  const me = useSignedIn();
  const [filters] = useUrlStates(KEY_FILTERS);
  const keys = useList('GET /v1/api-keys', { query: { ...keysQueryOf(filters, organization, Date.now() / 1_000), limit: AT_ONCE } });
  const isFiltered = Object.values(filters).some(Boolean);
  return (
    <PagedTable
      label="API keys"
      query={keys}
      keyOf={({ id }) => id}
      columns={columnsFor(me)}
      empty={
        isFiltered ? (
          <Empty title="No API keys match these filters" />
        ) : (
          <Empty title="No active API keys">
            <p>
              Applications authenticate with an API key.
              {can(me, 'keys:write') && ' Create one to get its secret and example code.'}
            </p>
          </Empty>
        )
      }
    />
  );
};

const KeyFilterFields = ({ organization }: { organization: string }) => {
  const isOwn = seesOnlyOwn(useSignedIn());
  const [filters, change] = useUrlStates(KEY_FILTERS);
  return (
    <>
      <FilterField label="Search" placeholder="name, hint or id" value={filters.q} onChange={(q) => change({ q })} />
      <SelectField
        label="State"
        value={filters.status}
        onChange={(status) => change({ status })}
        choices={[
          ['', 'Active'],
          ['revoked', 'Revoked'],
          ['all', 'All'],
        ]}
      />
      <SelectField
        label="Show"
        value={filters.attention}
        onChange={(attention) => change({ attention })}
        choices={[
          ['', 'All keys'],
          ['expiring', 'Expired or expiring within 7 days'],
          ['unused', 'Unused for 30 days'],
        ]}
      />
      <FilterField label="Model" value={filters.model} onChange={(model) => change({ model })} />
      {!isOwn && (
        <FilterField
          label="Created by"
          placeholder="user_…"
          value={filters.created_by}
          onChange={(created_by) => change({ created_by })}
          isCode
        />
      )}
      <ProjectFilter organization={organization} value={filters.project_id} onChange={(project_id) => change({ project_id })} />
    </>
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const [organization, setOrganization] = useUrlState<string>('organization', '');
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const needsChoice = isOfPlatform(me) && organization === '';
  return (
    <Page
      title="API keys"
      description="Applications authenticate with API keys. Each key has its own limits and budgets."
      actions={
        can(me, 'keys:write') &&
        !needsChoice && (
          <Button look="primary" onClick={() => setDialog('create')}>
            Create API key
          </Button>
        )
      }
    >
      <Filters>
        <OrganizationField value={organization} onChange={setOrganization} />
        <KeyFilterFields organization={organization} />
      </Filters>
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>Each organization has its own API keys.</p>
        </Empty>
      ) : (
        <KeyList organization={organization || undefined} />
      )}
      {dialog === 'create' && can(me, 'keys:write') && <CreateKey organization={organization || undefined} onClose={() => setDialog('')} />}
    </Page>
  );
};
