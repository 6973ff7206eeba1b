import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useChosenOrganization } from '../../client/chosen-organization.ts';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Disclosure, Facts, Filters, Page, Section } from '../../design/layout/layout.tsx';
import { wordsOfType } from '../webhooks/event-types.ts';
import { VerifySignature } from '../webhooks/verify-signature.tsx';
import type { Webhook } from '../webhooks/webhook-draft.ts';
import { WebhookState } from '../webhooks/webhook-state.tsx';
import { Deliveries } from './deliveries.tsx';
import { WebhookActions } from './webhook-actions.tsx';

const WebhookPage = ({ webhook, organization }: { webhook: Webhook; organization: string | undefined }) => {
  const me = useSignedIn();
  const [awaited, setAwaited] = useState<string>();
  const { id, url, description, types, enabled, disabled_reason, previous_secret_until, created_at, updated_at } = webhook;
  return (
    <Page
      title={description ?? new URL(url).host}
      status={<WebhookState webhook={webhook} />}
      description={<Link to={`/webhooks${organization ? `?organization=${organization}` : ''}`}>All webhooks</Link>}
      actions={<WebhookActions webhook={webhook} organization={organization} onTest={setAwaited} />}
    >
      {!enabled && (
        <Notice tone="warn">
          {disabled_reason === 'gone' && 'Sluice stopped sending events because the receiver answered 410. '}
          Events that occur in the meantime aren't sent later.
        </Notice>
      )}
      <Section title="Details" isCard>
        <Facts
          facts={[
            // Without the right to change it, the rest of the URL is hidden, because it can be a secret.
            ['URL', can(me, 'webhooks:write') ? <CopyText key="url" text={url} /> : url],
            ['Events', types?.map(wordsOfType).join(', ') ?? 'all, including those of later releases'],
            [
              'Previous secret',
              previous_secret_until === null ? undefined : (
                <span key="previous">
                  signs until <Time seconds={previous_secret_until} />
                </span>
              ),
            ],
            ['Created', <Time key="created" seconds={created_at} />],
            ['Last change', <Time key="changed" seconds={updated_at} />],
            ['Id', <CopyText key="id" text={id} />],
          ]}
        />
        <Disclosure title="How to verify the signature">
          <VerifySignature />
        </Disclosure>
      </Section>
      <Deliveries webhook={webhook} organization={organization} awaited={awaited} />
    </Page>
  );
};

/** One webhook. */
export const Screen = () => {
  const me = useSignedIn();
  const { id = '' } = useParams();
  const { chosen, setChosen, organization, needsChoice } = useChosenOrganization();
  const webhook = useRead('GET /v1/webhooks/{id}', { parameters: { id }, query: { organization } }, { enabled: !needsChoice });
  if (webhook.data) return <WebhookPage webhook={webhook.data} organization={organization} />;
  return (
    <Page title="Webhook">
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={chosen} onChange={setChosen} />
        </Filters>
      )}
      {needsChoice ? (
        <Empty title="Choose the organization of this webhook">
          <p>Enter the id of an organization, or choose it by its name.</p>
        </Empty>
      ) : (
        <Loaded query={webhook}>{() => null}</Loaded>
      )}
    </Page>
  );
};
