import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { counted, formatMoney } from '../../design/format/amounts.ts';
import { Facts, Page, Section } from '../../design/layout/layout.tsx';
import { FirstCall } from '../api-keys/first-call.tsx';
import { KeyActions } from '../api-keys/key-actions.tsx';
import type { ApiKey } from '../api-keys/key-draft.ts';
import { keyStateOf } from '../api-keys/key-state.ts';
import { EditKey } from './edit-key.tsx';
import { KeyUsage } from './usage.tsx';

const userLimitsText = (limits: NonNullable<ApiKey['per_user']>): string =>
  [
    limits.requests_per_minute !== null && `${counted(limits.requests_per_minute, 'request', 'requests')} per minute`,
    limits.tokens_per_minute !== null && `${counted(limits.tokens_per_minute, 'token', 'tokens')} per minute`,
    limits.concurrency !== null && counted(limits.concurrency, 'concurrent request', 'concurrent requests'),
    limits.monthly_budget !== null && `${formatMoney(limits.monthly_budget)} per month`,
  ]
    .filter(Boolean)
    .join(', ');

const factsOf = (key: ApiKey) =>
  [
    ['Id', <CopyText key="id" text={key.id} />],
    ['Secret', <code key="hint">{key.hint}</code>],
    ['Scope', key.scope === 'serverless' ? 'shared models' : 'your deployments'],
    ['Models', key.models?.join(', ') ?? 'all'],
    ['Project', key.project_id === null ? undefined : <IdLink key="project" id={key.project_id} />],
    ['Limits per end user', key.per_user === null ? undefined : userLimitsText(key.per_user)],
    ['Expires', <Time key="expires" seconds={key.expires_at} />],
    [
      'Previous secret',
      key.previous_secret_until !== null && key.previous_secret_until * 1_000 > Date.now() ? (
        <>
          works until <Time seconds={key.previous_secret_until} />
        </>
      ) : undefined,
    ],
    ['Fallbacks', key.no_fallback ? 'disabled for this key' : undefined],
    ['Content', key.no_content ? 'not stored' : 'can be stored, such as responses'],
    [
      'Metadata',
      Object.keys(key.metadata).length > 0
        ? Object.entries(key.metadata)
            .map(([name, value]) => `${name}: ${value}`)
            .join(', ')
        : undefined,
    ],
    ['Last used', <Time key="used" seconds={key.last_used_at} />],
    [
      'Created',
      <span key="created">
        <Time seconds={key.created_at} /> by <CopyText text={key.created_by} />
      </span>,
    ],
  ] as const;

const KeyPage = ({ apiKey }: { apiKey: ApiKey }) => {
  const me = useSignedIn();
  const [edited, setEdited] = useState<ApiKey>();
  const { id, name, status, organization, last_used_at } = apiKey;
  const place = isOfPlatform(me) ? { organization } : undefined;
  const listPath = place ? `/api-keys?${new URLSearchParams(place)}` : '/api-keys';
  return (
    <Page
      title={name}
      status={<Chip state={keyStateOf(apiKey, Date.now() / 1_000)} />}
      description={<Link to={listPath}>All API keys</Link>}
      actions={
        <>
          {can(me, 'requests:read') && (
            <ButtonLink to={`/requests?${new URLSearchParams({ api_key_id: id, ...place })}`}>Show requests</ButtonLink>
          )}
          {status === 'active' && can(me, 'keys:write') && <Button onClick={() => setEdited(apiKey)}>Edit API key</Button>}
          <KeyActions apiKey={apiKey} />
        </>
      }
    >
      <Section title="Details" isCard>
        <Facts facts={factsOf(apiKey)} />
      </Section>
      {status === 'active' && last_used_at === null && (
        <Section title="First request" isCard>
          <FirstCall apiKey={apiKey} />
        </Section>
      )}
      {can(me, 'usage:read') && <KeyUsage id={id} />}
      {edited && <EditKey apiKey={edited} onClose={() => setEdited(undefined)} />}
    </Page>
  );
};

export const Screen = () => {
  const { id = '' } = useParams();
  const key = useRead('GET /v1/api-keys/{id}', { parameters: { id } });
  if (key.data) return <KeyPage apiKey={key.data} />;
  return (
    <Page title="API key">
      <Loaded query={key}>{() => null}</Loaded>
    </Page>
  );
};
