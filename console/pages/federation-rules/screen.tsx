import { Link } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { SelectField } from '../../design/controls/fields.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Table } from '../../design/data/table.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { PLATFORM } from '../users/roles.ts';
import { CreateRule } from './create-rule.tsx';
import type { FederationRule } from './rule-draft.ts';

const MAX_ACCOUNTS = 100;
const STATES = ['organization', 'service_account', 'dialog'] as const;

const conditionsOf = ({ subject, claims }: FederationRule): string =>
  [...(subject === null ? [] : [`sub = ${subject}`]), ...Object.entries(claims).map(([name, value]) => `${name} = ${value}`)].join(', ');

const COLUMNS: readonly Column<FederationRule>[] = [
  {
    title: 'Issuer',
    render: ({ id, issuer, description, service_account }) => (
      <>
        <Link to={`/federation-rules/${id}?service_account=${service_account}`}>{issuer}</Link>
        {description && <div>{description}</div>}
      </>
    ),
  },
  { title: 'State', render: ({ status }) => <Chip state={status} /> },
  { title: 'Conditions', render: (rule) => <code>{conditionsOf(rule)}</code> },
  { title: 'Issues', render: ({ api_key }) => (api_key ? 'access tokens, API keys' : 'access tokens') },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
];

const Rules = ({ account, canWrite }: { account: string; canWrite: boolean }) => {
  const rules = useRead('GET /v1/service-accounts/{id}/federation-rules', { parameters: { id: account } });
  return (
    <Loaded query={rules}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No federation rules yet">
            <p>
              {canWrite ? 'Create a rule' : 'An owner of the organization can create a rule'} for a repository so that its jobs get access
              tokens of this service account without a stored secret.
            </p>
          </Empty>
        ) : (
          <Table label="Federation rules" rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
        )
      }
    </Loaded>
  );
};

const AccountField = ({ organization, value, onChange }: { organization: string; value: string; onChange: (id: string) => void }) => {
  const me = useSignedIn();
  const named = isOfPlatform(me) ? organization || PLATFORM : undefined;
  const { data } = useRead('GET /v1/service-accounts', { query: { limit: MAX_ACCOUNTS, ...(named && { organization: named }) } });
  const accounts = data?.data ?? [];
  const isListed = value === '' || accounts.some(({ id }) => id === value);
  return (
    <SelectField
      label="Service account"
      value={value}
      onChange={onChange}
      choices={[
        ['', 'Choose one'],
        ...accounts.map(({ id, name }) => [id, name] as const),
        // The account belongs to another organization, or is not read yet.
        ...(isListed ? [] : [[value, value] as const]),
      ]}
    />
  );
};

export const Screen = () => {
  const me = useSignedIn();
  const [{ organization, service_account: account, dialog }, change] = useUrlStates(STATES);
  return (
    <Page
      title="Federation rules"
      description="Jobs exchange the tokens their CI service signs for access tokens of a service account, so no secret is stored anywhere."
      actions={
        can(me, 'service_accounts:write') &&
        account !== '' && (
          <Button look="primary" onClick={() => change({ dialog: 'create' })}>
            Create federation rule
          </Button>
        )
      }
    >
      <Filters>
        <OrganizationField value={organization} onChange={(id) => change({ organization: id, service_account: '' })} />
        <AccountField organization={organization} value={account} onChange={(id) => change({ service_account: id })} />
      </Filters>
      {account === '' ? (
        <Empty title="Choose a service account">
          <p>Each rule belongs to a service account and gives jobs the account's permissions.</p>
          <ButtonLink to="/service-accounts">Show service accounts</ButtonLink>
        </Empty>
      ) : (
        <Rules account={account} canWrite={can(me, 'service_accounts:write')} />
      )}
      {dialog === 'create' && account !== '' && can(me, 'service_accounts:write') && (
        <CreateRule account={account} onClose={() => change({ dialog: '' })} />
      )}
    </Page>
  );
};
