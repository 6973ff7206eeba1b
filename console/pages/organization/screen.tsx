import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { ButtonLink } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { Chip, Count, Money, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Columns, Facts, Page, Row, Section } from '../../design/layout/layout.tsx';
import type { Organization } from './limits-draft.ts';
import { CostThisMonth, CreditNow } from './money.tsx';
import { OrganizationActions } from './organization-actions.tsx';

const limitOf = (value: number | null): ReactNode => (value === null ? 'no limit' : <Count value={value} />);

const Limits = ({ organization: { limits, has_default_concurrency } }: { organization: Organization }) => (
  <Section title="Limits shared by all API keys" isCard>
    {limits === null ? (
      <p>No shared limits. Each API key has only its own.</p>
    ) : (
      <Facts
        facts={[
          ['Requests per minute', limitOf(limits.requests_per_minute)],
          ['Tokens per minute', limitOf(limits.tokens_per_minute)],
          [
            'Concurrent requests',
            <span key="concurrency">
              <Count value={limits.concurrency} />
              {has_default_concurrency && " (the platform's default)"}
            </span>,
          ],
          ['Budget per month', limits.month_budget === null ? 'no budget' : <Money key="budget" amount={limits.month_budget} />],
          ['Payment', limits.prepaid ? 'prepaid credit' : 'invoice'],
        ]}
      />
    )}
  </Section>
);

const Details = ({ organization }: { organization: Organization }) => {
  const { id, require_second_factor, fresh_login_minutes, no_content, created_at, updated_at } = organization;
  return (
    <Section title="Details" isCard>
      <Facts
        facts={[
          ['Id', <CopyText key="id" text={id} />],
          ['Second factor', require_second_factor ? 'required' : 'optional'],
          ['Sign-in valid for sensitive changes', `${fresh_login_minutes} minutes`],
          ['Request content', no_content ? 'not stored' : 'depends on each API key'],
          ['Created', <Time key="created" seconds={created_at} />],
          ['Changed', <Time key="changed" seconds={updated_at} />],
        ]}
      />
    </Section>
  );
};

// The screens that show an organization's things.
const THINGS = [
  ['/users', 'Users'],
  ['/api-keys', 'API keys'],
  ['/deployments', 'Deployments'],
  ['/requests', 'Requests'],
  ['/usage', 'Usage and costs'],
  ['/invoices', 'Invoices'],
  ['/webhooks', 'Webhooks'],
  ['/tickets', 'Tickets'],
  ['/audit-log', 'Audit log'],
] as const;

const OrganizationPage = ({ organization }: { organization: Organization }) => {
  const me = useSignedIn();
  const { id, name, status, no_content_pending } = organization;
  return (
    <Page
      title={name}
      status={<Chip state={status} />}
      description={can(me, 'organizations:list') && <Link to="/organizations">All organizations</Link>}
      actions={<OrganizationActions organization={organization} />}
    >
      {status !== 'active' && (
        <Notice tone="warn">This organization is suspended: its API keys don't work, and its users can only read.</Notice>
      )}
      {no_content_pending && (
        <Notice tone="warn">
          The setting for request content hasn't reached all API keys yet. If this notice stays, save the setting again.
        </Notice>
      )}
      <Row>
        {THINGS.map(([path, title]) => (
          <ButtonLink key={path} to={isOfPlatform(me) ? `${path}?organization=${id}` : path}>
            {title}
          </ButtonLink>
        ))}
      </Row>
      {can(me, 'usage:read') && <CostThisMonth id={id} budget={organization.limits?.month_budget ?? null} />}
      <Columns>
        <Limits organization={organization} />
        {organization.limits?.prepaid && can(me, 'billing:read') && <CreditNow id={id} />}
        <Details organization={organization} />
      </Columns>
    </Page>
  );
};

/** One organization: for those who work for the platform, and for its own users. */
export const Screen = () => {
  const { id = '' } = useParams();
  const query = useRead('GET /v1/organizations/{id}', { parameters: { id } });
  if (query.data) return <OrganizationPage organization={query.data} />;
  return (
    <Page title="Organization">
      <Loaded query={query}>{() => null}</Loaded>
    </Page>
  );
};
