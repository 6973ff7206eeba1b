import { Link } from 'wouter';
import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { PLATFORM } from '../users/roles.ts';
import type { ServiceAccount } from './account-draft.ts';
import { CreateAccount } from './create-account.tsx';

const columnsFor = (me: Me): readonly Column<ServiceAccount>[] => [
  {
    title: 'Name',
    render: ({ id, name, description }) => (
      <>
        <Link to={`/service-accounts/${id}`}>{name}</Link>
        {description && <div>{description}</div>}
      </>
    ),
  },
  { title: 'State', render: ({ status }) => <Chip state={status} /> },
  { title: 'Role', render: ({ role }) => role.replaceAll('_', ' ') },
  { title: 'Permissions', render: ({ permissions }) => permissions?.join(', ') ?? 'all of the role' },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
  { title: 'Created by', render: ({ created_by }) => (created_by === me.id ? 'you' : <code>{created_by}</code>) },
];

export const Screen = () => {
  const me = useSignedIn();
  const [chosen, setChosen] = useUrlState<string>('organization', '');
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const organization = isOfPlatform(me) ? chosen || PLATFORM : undefined;
  const accounts = useList('GET /v1/service-accounts', { query: { ...(organization && { organization }) } });
  return (
    <Page
      title="Service accounts"
      description="Accounts for programs that call the control plane, such as a nightly report or a pipeline. Requests to models need an API key."
      actions={
        can(me, 'service_accounts:write') && (
          <Button look="primary" onClick={() => setDialog('create')}>
            Create service account
          </Button>
        )
      }
    >
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={chosen} onChange={setChosen} />
        </Filters>
      )}
      <PagedTable
        label="Service accounts"
        query={accounts}
        keyOf={({ id }) => id}
        columns={columnsFor(me)}
        empty={
          <Empty title="No service account yet">
            <p>
              {can(me, 'service_accounts:write')
                ? 'Give a program its own account with only the permissions that it needs.'
                : 'An owner of the organization can give a program its own account with only the permissions that it needs.'}{' '}
              It authenticates with a secret, or without one on GitHub Actions and other platforms that sign tokens for their jobs.
            </p>
          </Empty>
        }
      />
      {dialog === 'create' && can(me, 'service_accounts:write') && (
        <CreateAccount organization={organization} onClose={() => setDialog('')} />
      )}
    </Page>
  );
};
