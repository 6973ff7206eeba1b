import { Link, useParams } from 'wouter';
import { controlUrl } from '../../client/address.ts';
import { useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { Code, CopyText } from '../../design/controls/copy.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Facts, Page, Section } from '../../design/layout/layout.tsx';
import type { ServiceAccount } from '../service-accounts/account-draft.ts';
import { AccountActions } from './account-actions.tsx';
import { jobSnippets } from './job-snippet.ts';
import { Secrets } from './secrets.tsx';

const AccountPage = ({ account }: { account: ServiceAccount }) => {
  const me = useSignedIn();
  const { id, name, description, status, role, organization, permissions, effective_permissions, created_at, created_by } = account;
  return (
    <Page
      title={name}
      status={<Chip state={status} />}
      description={<Link to="/service-accounts">All service accounts</Link>}
      actions={<AccountActions account={account} />}
    >
      <Section title="Details" isCard>
        <Facts
          facts={[
            ['Id', <CopyText key="id" text={id} />],
            ['Description', description ?? undefined],
            ['Organization', organization !== me.organization ? (organization ?? 'the platform') : undefined],
            ['Role', role.replaceAll('_', ' ')],
            ['Permissions', permissions ? permissions.join(', ') || 'none' : `all of the role: ${effective_permissions.join(', ')}`],
            [
              'Created',
              <span key="created">
                <Time seconds={created_at} /> by <CopyText text={created_by} />
              </span>,
            ],
          ]}
        />
      </Section>
      <Secrets account={account} />
      <Section title="Without a secret" actions={<ButtonLink to={`/federation-rules?service_account=${id}`}>Federation rules</ButtonLink>}>
        <p>
          Jobs on GitHub Actions, GitLab, AWS and other platforms have a token that the platform signs. Create a federation rule to let them
          sign in with it.
        </p>
      </Section>
      <Section title="Use it in a job" isCard>
        <p>
          Save the secret in the variable <code>SERVICE_ACCOUNT_SECRET</code>. The access token works for 15 minutes: reuse it until it
          expires.
        </p>
        <Code label="A job of this service account" variants={jobSnippets({ controlUrl, account })} />
      </Section>
    </Page>
  );
};

export const Screen = () => {
  const { id = '' } = useParams();
  const account = useRead('GET /v1/service-accounts/{id}', { parameters: { id } });
  if (account.data) return <AccountPage account={account.data} />;
  return (
    <Page title="Service account">
      <Loaded query={account}>{() => null}</Loaded>
    </Page>
  );
};
