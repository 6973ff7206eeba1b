import { useState } from 'react';
import { useParams } from 'wouter';
import { can, isOfPlatform, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import type { ReplyBody } from '../../client/routes.ts';
import { useUrlStates } from '../../client/url-state.ts';
import { Button, ButtonLink } from '../../design/controls/button.tsx';
import { Empty, Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { OrganizationField } from '../../design/forms/organization-field.tsx';
import { Columns, Filters, Page, Row, Section } from '../../design/layout/layout.tsx';
import { Outcome } from '../requests/outcome.tsx';
import { RequestCost } from './cost.tsx';
import { RequestFacts, RequestTokens } from './facts.tsx';
import { RequestPayload } from './payload.tsx';
import { TicketDialog } from './ticket-dialog.tsx';
import { RequestTimeline } from './timeline.tsx';

type Detail = ReplyBody<'GET /v1/observability/requests/{id}'>;

const NotFound = ({ onRetry }: { onRetry: () => void }) => (
  <Empty title="Request not found">
    <p>
      You can find an admitted request from about a minute after it ends, for 30 days. Rejected requests, such as those over a limit or for
      an unknown model, are only counted: their replies say why. Members see only requests with the API keys that they created.
    </p>
    <Row>
      <Button onClick={onRetry}>Try again</Button>
      <ButtonLink to="/requests">Search requests</ButtonLink>
    </Row>
  </Empty>
);

const Details = ({ detail }: { detail: Detail }) => (
  <>
    {detail.error && (
      <Notice tone="warn">
        {detail.error.status} <code>{detail.error.code}</code> {detail.error.message}
      </Notice>
    )}
    <Section title="Timeline" isCard>
      <RequestTimeline request={detail} />
    </Section>
    <Columns>
      <RequestTokens request={detail} />
      <RequestCost cost={detail.cost} />
    </Columns>
    <RequestFacts request={detail} />
    <RequestPayload id={detail.id} isLogged={detail.is_payload_logged} />
  </>
);

const TicketButton = ({ detail }: { detail: Detail }) => {
  const me = useSignedIn();
  const [isOpen, setOpen] = useState(false);
  // Only the organization's own users can open tickets.
  if (isOfPlatform(me) || !can(me, 'tickets:write')) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Open a ticket about this</Button>
      {isOpen && <TicketDialog detail={detail} onClose={() => setOpen(false)} />}
    </>
  );
};

/** One request. */
export const Screen = () => {
  const me = useSignedIn();
  const { id = '' } = useParams();
  const [{ api_key_id, organization }, change] = useUrlStates(['api_key_id', 'organization']);
  const needsOrganization = isOfPlatform(me) && organization === '';
  const query = useRead(
    'GET /v1/observability/requests/{id}',
    { parameters: { id }, query: { api_key_id, organization } },
    { enabled: !needsOrganization },
  );
  const { data, error, refetch } = query;
  return (
    <Page
      title="Request"
      status={data && <Outcome {...data} />}
      description={<code>{id}</code>}
      actions={data && <TicketButton detail={data} />}
    >
      {isOfPlatform(me) && (
        <Filters>
          <OrganizationField value={organization} onChange={(next) => change({ organization: next })} />
        </Filters>
      )}
      {needsOrganization && (
        <Empty title="Choose the organization of this request">
          <p>Requests belong to organizations. Enter the id of one, or choose it by its name.</p>
        </Empty>
      )}
      {!needsOrganization && error?.status === 404 && <NotFound onRetry={() => void refetch()} />}
      {!needsOrganization && error?.status !== 404 && <Loaded query={query}>{(detail) => <Details detail={detail} />}</Loaded>}
    </Page>
  );
};
