import { Link, useParams } from 'wouter';
import { controlUrl } from '../../client/address.ts';
import { useRead } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Code, CopyText } from '../../design/controls/copy.tsx';
import { Chip, Duration, Money, Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { counted } from '../../design/format/amounts.ts';
import { Facts, Page, Section } from '../../design/layout/layout.tsx';
import type { FederationRule } from '../federation-rules/rule-draft.ts';
import { Exchanges } from './exchanges.tsx';
import { RuleActions } from './rule-actions.tsx';
import { workflowsOf } from './workflow.ts';

const keyFactsOf = ({ scope, models, limits, budgets, lifetime_seconds }: NonNullable<FederationRule['api_key']>) =>
  [
    ['API keys for', models?.join(', ') ?? (scope === 'serverless' ? 'all shared models' : 'all your deployments')],
    ['Key lifetime', <Duration key="lifetime" milliseconds={lifetime_seconds * 1_000} />],
    [
      'Limits per key',
      `${counted(limits.requests_per_minute, 'request', 'requests')} and ${counted(limits.tokens_per_minute, 'token', 'tokens')} per minute, ${counted(limits.concurrency, 'concurrent request', 'concurrent requests')}`,
    ],
    ['Budget per key', budgets.total === null ? 'no limit' : <Money key="budget" amount={budgets.total} />],
  ] as const;

const factsOf = (rule: FederationRule) =>
  [
    ['Id', <CopyText key="id" text={rule.id} />],
    [
      'Service account',
      <Link key="account" to={`/service-accounts/${rule.service_account}`}>
        {rule.service_account}
      </Link>,
    ],
    ['Description', rule.description ?? undefined],
    ['Issuer', <code key="issuer">{rule.issuer}</code>],
    ['Audience', <code key="audience">{rule.audience}</code>],
    ['Subject', rule.subject === null ? 'not checked' : <code key="subject">{rule.subject}</code>],
    ...Object.entries(rule.claims).map(([name, value]) => [`Claim ${name}`, <code key={name}>{value}</code>] as const),
    ['Issues', rule.api_key ? 'access tokens of the service account, or API keys' : 'access tokens of the service account'],
    ...(rule.api_key ? keyFactsOf(rule.api_key) : []),
    ['Created', <Time key="created" seconds={rule.created_at} />],
  ] as const;

const Workflow = ({ rule }: { rule: FederationRule }) => {
  const configuration = useRead('GET /v1/console/configuration', {});
  return (
    <Section title="Use it in a job" isCard>
      <p>The ids are not secret. Each token from the issuer is accepted only once.</p>
      <Loaded query={configuration}>
        {({ base_url, on_demand_base_url }) => (
          <Code
            label="Example job with this rule"
            variants={workflowsOf({
              controlUrl,
              rule,
              wantsKey: rule.api_key !== null,
              baseUrl: rule.api_key?.scope === 'on_demand' ? on_demand_base_url : base_url,
            })}
          />
        )}
      </Loaded>
    </Section>
  );
};

const Rule = ({ account, id }: { account: string; id: string }) => {
  const rule = useRead('GET /v1/service-accounts/{id}/federation-rules/{rule}', { parameters: { id: account, rule: id } });
  return (
    <Page
      title="Federation rule"
      status={rule.data && <Chip state={rule.data.status} />}
      description={<Link to={`/federation-rules?service_account=${account}`}>All federation rules of the service account</Link>}
      actions={rule.data && <RuleActions rule={rule.data} />}
    >
      <Loaded query={rule}>
        {(data) => (
          <>
            <Section title="Details" isCard>
              <Facts facts={factsOf(data)} />
            </Section>
            <Exchanges account={account} rule={id} />
            <Workflow rule={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
};

export const Screen = () => {
  const { id = '' } = useParams();
  const [account] = useUrlState<string>('service_account', '');
  if (account !== '') return <Rule account={account} id={id} />;
  return (
    <Page title="Federation rule">
      <Empty title="The link doesn't name the service account">
        <p>
          Rules belong to service accounts. <Link to="/federation-rules">Choose the service account</Link>, then the rule.
        </p>
      </Empty>
    </Page>
  );
};
