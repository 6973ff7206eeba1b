import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState, useUrlStates } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import { FilterField } from '../../design/controls/filter-field.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { InviteUser } from './invite-user.tsx';
import { PLATFORM, rolesIn, type User, userStateOf } from './roles.ts';
import { UserActions } from './user-actions.tsx';

const FILTERS = ['q', 'role', 'status'] as const;

const columnsFor = (me: Me): readonly Column<User>[] => [
  {
    title: 'User',
    hasIds: true,
    render: ({ id, name, email }) => (
      <>
        {name && <div>{name}</div>}
        <div>
          {email} {id === me.id && <Chip state="you" tone="accent" />}
        </div>
      </>
    ),
  },
  { title: 'Role', render: ({ role }) => role.replaceAll('_', ' ') },
  {
    title: 'State',
    render: (user) => <Chip state={userStateOf(user)} tone={userStateOf(user) === 'invited' ? 'accent' : undefined} />,
  },
  { title: 'Last login', render: ({ last_login_at }) => <Time seconds={last_login_at} /> },
  { title: 'Created', render: ({ created_at }) => <Time seconds={created_at} /> },
  { title: 'Id', hasIds: true, render: ({ id }) => <CopyText text={id} /> },
  { title: 'Actions', render: (user) => <UserActions user={user} /> },
];

const UserList = ({ organization }: { organization: string | undefined }) => {
  const me = useSignedIn();
  const [{ q, role, status }] = useUrlStates(FILTERS);
  const users = useList('GET /v1/users', {
    query: {
      ...(organization && { organization }),
      ...(q && { q }),
      ...(role && { role: role as User['role'] }),
      ...(status && { status: status as User['status'] }),
    },
  });
  return (
    <PagedTable
      label="Users"
      query={users}
      keyOf={({ id }) => id}
      columns={columnsFor(me)}
      empty={
        <Empty title={q || role || status ? 'No user matches these filters' : 'No user yet'}>
          <p>Users sign in to this console.{can(me, 'users:write') && ' Invite them by email.'}</p>
        </Empty>
      }
    />
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const [chosen, setChosen] = useUrlState<string>('organization', '');
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  const [{ q, role, status }, change] = useUrlStates(FILTERS);
  const organization = isOfPlatform(me) ? chosen || PLATFORM : undefined;
  return (
    <Page
      title="Users"
      description={
        isOfPlatform(me)
          ? "The platform's own users. Choose an organization to see its users."
          : 'The people who can sign in, and their roles.'
      }
      actions={
        can(me, 'users:write') && (
          <Button look="primary" onClick={() => setDialog('invite')}>
            Invite user
          </Button>
        )
      }
    >
      <Filters>
        <OrganizationField value={chosen} onChange={setChosen} />
        <FilterField label="Search" placeholder="Name, email or id" value={q} onChange={(text) => change({ q: text })} />
        <SelectField
          label="Role"
          value={role}
          onChange={(next) => change({ role: next })}
          choices={[['', 'All roles'], ...rolesIn(organization ?? '').map(([value]) => [value, value.replaceAll('_', ' ')] as const)]}
        />
        <SelectField
          label="Status"
          value={status}
          onChange={(next) => change({ status: next })}
          choices={[
            ['', 'All'],
            ['active', 'Active'],
            ['disabled', 'Disabled'],
          ]}
        />
      </Filters>
      <UserList organization={organization} />
      {dialog === 'invite' && can(me, 'users:write') && <InviteUser organization={organization} onClose={() => setDialog('')} />}
    </Page>
  );
};
