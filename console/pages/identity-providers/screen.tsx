import { Link } from 'wouter';
import { useChosenOrganization } from '../../client/chosen-organization.ts';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Items, Page } from '../../design/layout/layout.tsx';
import { CreateProvider } from './create-provider.tsx';
import type { IdentityProvider } from './provider-draft.ts';
import { providerPath } from './provider-path.ts';

const columnsFor = (organization: string | undefined): readonly Column<IdentityProvider>[] => [
  {
    title: 'Name',
    render: ({ id, name, issuer }) => (
      <>
        <Link to={providerPath(id, organization)}>{name}</Link>
        <div>{issuer}</div>
      </>
    ),
  },
  { title: 'State', render: ({ status }) => <Chip state={status} /> },
  {
    title: 'Domains',
    render: ({ domains }) => (
      <Items>
        {domains.map(({ domain, status }) => (
          <li key={domain}>
            {domain} <Chip state={status} />
          </li>
        ))}
      </Items>
    ),
  },
  { title: 'Passwords', render: ({ enforced, status }) => (enforced && status === 'active' ? 'refused' : 'allowed') },
];

const Providers = ({ organization, canWrite }: { organization: string | undefined; canWrite: boolean }) => {
  const providers = useRead('GET /v1/identity-providers', { query: { ...(organization && { organization }) } });
  return (
    <Loaded query={providers}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No identity providers yet">
            <p>
              {canWrite ? 'Connect' : 'An owner of the organization can connect'} Okta, Microsoft Entra ID, Google Workspace, Keycloak or
              another OpenID provider so that your users can sign in with it. Their groups can set their roles.
            </p>
          </Empty>
        ) : (
          <Table label="Identity providers" rows={data} keyOf={({ id }) => id} columns={columnsFor(organization)} />
        )
      }
    </Loaded>
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const { chosen, setChosen, needsChoice } = useChosenOrganization();
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  return (
    <Page
      title="Identity providers"
      description="Single sign-on: your organization's users sign in with its own provider."
      actions={
        can(me, 'identity_providers:write') &&
        !needsChoice && (
          <Button look="primary" onClick={() => setDialog('create')}>
            Connect identity provider
          </Button>
        )
      }
    >
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={chosen} onChange={setChosen} />
        </Filters>
      )}
      {needsChoice ? (
        <Empty title="Choose an organization">
          <p>Each organization has its own identity providers.</p>
        </Empty>
      ) : (
        <Providers organization={chosen || undefined} canWrite={can(me, 'identity_providers:write')} />
      )}
      {dialog === 'create' && !needsChoice && can(me, 'identity_providers:write') && (
        <CreateProvider organization={chosen || undefined} onClose={() => setDialog('')} />
      )}
    </Page>
  );
};
