import { Link } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState, useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Count, Money, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import type { Organization } from '../organization/limits-draft.ts';
import { Onboard } from './onboard.tsx';

const FILTERS = ['q', 'status'] as const;

const COLUMNS: readonly Column<Organization>[] = [
  { title: 'Organization', render: ({ id, name }) => <Link to={`/organizations/${id}`}>{name}</Link> },
  { title: 'State', isWhole: true, render: ({ status }) => <Chip state={status} /> },
  { title: 'Payment', isWhole: true, render: ({ limits }) => (limits?.prepaid ? 'prepaid credit' : 'invoice') },
  { title: 'Budget / month', isNumeric: true, render: ({ limits }) => <Money amount={limits?.month_budget} /> },
  { title: 'Concurrency', isNumeric: true, render: ({ limits }) => <Count value={limits?.concurrency} /> },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  { title: 'Id', hasIds: true, render: ({ id }) => <CopyText text={id} /> },
];

const OrganizationList = () => {
  const [{ q, status }] = useUrlStates(FILTERS);
  const organizations = useList('GET /v1/organizations', {
    query: { ...(q && { q }), ...(status && { status: status as Organization['status'] }) },
  });
  return (
    <PagedTable
      label="Organizations"
      query={organizations}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      empty={
        <Empty title={q || status ? 'No organization matches these filters' : 'No organization yet'}>
          <p>An organization is a customer with its own users, API keys and invoices. Onboard one, and its owner sets up the rest.</p>
        </Empty>
      }
    />
  );
};

/** The customers of the platform. */
export const Screen = () => {
  const mayManage = can(useSignedIn(), 'organizations:manage');
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const [{ q, status }, change] = useUrlStates(FILTERS);
  return (
    <Page
      title="Organizations"
      description="The customers of the platform, newest first."
      actions={
        mayManage && (
          <Button look="primary" onClick={() => setDialog('onboard')}>
            Onboard organization
          </Button>
        )
      }
    >
      <Filters>
        <FilterField label="Search" placeholder="Name or id" value={q} onChange={(text) => change({ q: text })} />
        <SelectField
          label="State"
          value={status}
          onChange={(next) => change({ status: next })}
          choices={[
            ['', 'All'],
            ['active', 'Active'],
            ['suspended', 'Suspended'],
          ]}
        />
      </Filters>
      <OrganizationList />
      {dialog === 'onboard' && mayManage && <Onboard onClose={() => setDialog('')} />}
    </Page>
  );
};
