import { Link, useParams } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Facts, Page, Section } from '../../design/layout/layout.tsx';
import type { IdentityProvider } from '../identity-providers/provider-draft.ts';
import { Domains } from './domains.tsx';
import { Logins } from './logins.tsx';
import { Passwords } from './passwords.tsx';
import type { PartProps } from './place.ts';
import { ProviderActions } from './provider-actions.tsx';
import { Scim } from './scim.tsx';
import { TestLogin } from './test-login.tsx';

const MAPPING: readonly Column<IdentityProvider['role_mapping'][number]>[] = [
  { title: 'Group', render: ({ value }) => <code>{value}</code> },
  { title: 'Role', render: ({ role }) => role },
];

const Roles = ({ provider: { role_claim, role_mapping, default_role } }: Pick<PartProps, 'provider'>) => (
  <Section title="Roles">
    {role_claim === null ? (
      <p>Users keep the role they have here. New users get the default role.</p>
    ) : (
      <>
        <p>
          At each login, the claim <code>{role_claim}</code> sets the role. The first matching group applies.
        </p>
        {role_mapping.length > 0 && (
          <Table label="Roles by group" rows={role_mapping} keyOf={({ value, role }) => `${value}-${role}`} columns={MAPPING} />
        )}
      </>
    )}
    <p>Default role: {default_role ?? 'none. Only invited users can sign in, with the role they have'}.</p>
  </Section>
);

const Details = ({ provider }: Pick<PartProps, 'provider'>) => (
  <Section title="Details" isCard>
    <Facts
      facts={[
        ['Id', <CopyText key="id" text={provider.id} />],
        ['Issuer', <code key="issuer">{provider.issuer}</code>],
        ['Client id', <code key="client">{provider.client_id}</code>],
        ['Client secret', provider.has_client_secret ? 'stored' : 'none (public client)'],
        ['Redirect URI', <CopyText key="redirect" text={provider.redirect_uri} />],
        ['Scopes', provider.scopes.join(', ')],
        ['Required acr', provider.required_acr.length > 0 ? provider.required_acr.join(', ') : undefined],
        ['Session length', `${provider.session_hours} ${provider.session_hours === 1 ? 'hour' : 'hours'}`],
        ['Email addresses', provider.addresses_are_managed ? 'treated as verified' : 'must be verified by the provider'],
        ['SCIM deactivation', provider.deactivation_revokes_keys ? 'revokes API keys' : 'keeps API keys'],
      ]}
    />
  </Section>
);

const ProviderPage = (part: PartProps) => {
  const me = useSignedIn();
  const { provider, organization } = part;
  return (
    <Page
      title={provider.name}
      status={<Chip state={provider.status} />}
      description={<Link to={`/identity-providers${organization ? `?organization=${organization}` : ''}`}>All identity providers</Link>}
      actions={<ProviderActions {...part} />}
    >
      <Details provider={provider} />
      <Domains {...part} />
      {can(me, 'identity_providers:write') && <TestLogin {...part} />}
      <Roles provider={provider} />
      <Passwords {...part} />
      <Scim {...part} />
      <Logins {...part} />
    </Page>
  );
};

export const Screen = () => {
  const { id = '' } = useParams();
  const [chosen] = useUrlState<string>('organization', '');
  const organization = chosen || undefined;
  const provider = useRead('GET /v1/identity-providers/{id}', { parameters: { id }, query: { ...(organization && { organization }) } });
  if (provider.data) return <ProviderPage provider={provider.data} organization={organization} />;
  return (
    <Page title="Identity provider">
      <Loaded query={provider}>{() => null}</Loaded>
    </Page>
  );
};
