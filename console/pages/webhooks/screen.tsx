import { Link } from 'wouter';
import { useChosenOrganization } from '../../client/chosen-organization.ts';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useList } from '../../client/queries.ts';
import { useUrlState } from '../../client/url-state.ts';
import { Button } from '../../design/controls/button.tsx';
import { PagedTable } from '../../design/data/paged.tsx';
import type { Column } from '../../design/data/table.tsx';
import { Time } from '../../design/data/values.tsx';
import { Empty } from '../../design/feedback/failure.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Filters, Page } from '../../design/layout/layout.tsx';
import { CreateWebhook } from './create-webhook.tsx';
import { wordsOfType } from './event-types.ts';
import type { Webhook } from './webhook-draft.ts';
import { addressOfWebhook, WebhookState } from './webhook-state.tsx';

const columnsFor = (organization: string | undefined): readonly Column<Webhook>[] => [
  { title: 'URL', render: ({ id, url }) => <Link to={addressOfWebhook(id, organization)}>{url}</Link> },
  { title: 'State', render: (webhook) => <WebhookState webhook={webhook} /> },
  { title: 'Events', render: ({ types }) => types?.map(wordsOfType).join(', ') ?? 'all' },
  { title: 'Description', render: ({ description }) => description ?? '–' },
  { title: 'Created', isWhole: true, render: ({ created_at }) => <Time seconds={created_at} /> },
];

const WebhookList = ({ organization, canWrite }: { organization: string | undefined; canWrite: boolean }) => (
  <PagedTable
    label="Webhooks"
    query={useList('GET /v1/webhooks', { query: { organization } })}
    keyOf={({ id }) => id}
    columns={columnsFor(organization)}
    empty={
      <Empty title="No webhook yet">
        <p>
          Sluice sends events to your URL, for example when a budget threshold is reached, an invoice is issued or a ticket is answered.{' '}
          {canWrite
            ? 'When you create a webhook, you get its secret and code that verifies the signature.'
            : 'An owner of the organization can create one.'}
        </p>
      </Empty>
    }
  />
);

/** The webhooks of an organization. */
export const Screen = () => {
  const me = useSignedIn();
  const { chosen, setChosen, organization, needsChoice } = useChosenOrganization();
  const [dialog, setDialog] = useUrlState<string>('dialog', '');
  return (
    <Page
      title="Webhooks"
      description="URLs that Sluice sends signed events to, with retries."
      actions={
        can(me, 'webhooks:write') &&
        !needsChoice && (
          <Button look="primary" onClick={() => setDialog('create')}>
            Create webhook
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
          <p>You work for the platform. Its organizations each have their own webhooks.</p>
        </Empty>
      ) : (
        <WebhookList organization={organization} canWrite={can(me, 'webhooks:write')} />
      )}
      {dialog === 'create' && !needsChoice && can(me, 'webhooks:write') && (
        <CreateWebhook organization={organization} onClose={() => setDialog('')} />
      )}
    </Page>
  );
};
