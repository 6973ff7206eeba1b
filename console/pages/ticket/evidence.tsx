import { Link } from 'wouter';
import { can, isOfPlatform, type Me, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { Code, CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Money, Time } from '../../design/data/values.tsx';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { formatUtc } from '../../design/format/times.ts';
import { Disclosure, Facts, Section, Stack } from '../../design/layout/layout.tsx';
import { RequestCost } from '../request/cost.tsx';
import { RequestFacts, RequestTokens } from '../request/facts.tsx';
import { RequestTimeline } from '../request/timeline.tsx';
import { Outcome } from '../requests/outcome.tsx';
import type { Ticket } from '../tickets/ticket-words.ts';
import { type Evidence, plainFacts, type RequestDetail, requestIn } from './evidence-kinds.ts';

const TITLES = { request: 'Request', deployment: 'Deployment', invoice: 'Invoice' } as const;

// Those who work for the platform name the organization of a request; support sees none but these.
const EvidenceId = ({ evidence: { type, id }, ticket, me }: { evidence: Evidence; ticket: Ticket; me: Me }) => {
  if (type !== 'request' || !isOfPlatform(me)) return <IdLink id={id} />;
  if (!can(me, 'requests:read')) return <CopyText text={id} />;
  return (
    <Link to={`/requests/${id}?organization=${ticket.organization}`}>
      <code>{id}</code>
    </Link>
  );
};

const RequestEvidence = ({ request }: { request: RequestDetail }) => (
  <>
    <div>
      <Outcome {...request} />
    </div>
    {request.error && (
      <Notice tone="warn">
        {request.error.status} <code>{request.error.code}</code> {request.error.message}
      </Notice>
    )}
    <RequestTimeline request={request} />
    <Disclosure title="Cost, tokens and details">
      <Stack>
        <RequestCost cost={request.cost} />
        <RequestTokens request={request} />
        <RequestFacts request={request} />
      </Stack>
    </Disclosure>
  </>
);

const factsOf = ({ model, created_at, cost }: RequestDetail) =>
  [
    ['Model', model ?? 'not known'],
    ['Arrived', formatUtc(created_at)],
    ['Cost', <Money key="cost" amount={cost.total} />],
  ] as const;

interface EvidenceCardProps {
  title: string;
  evidence: Evidence;
  ticket: Ticket;
  me: Me;
}

const EvidenceCard = ({ title, evidence, ticket, me }: EvidenceCardProps) => {
  const request = requestIn(evidence);
  const { resource, internal, recorded_at } = evidence;
  const variants = [
    ['Resource', JSON.stringify(resource, null, 2)],
    ...(internal ? [['Support only', JSON.stringify(internal, null, 2)]] : []),
  ] as const;
  return (
    <Section title={title} isCard>
      <Facts
        facts={[
          ['Id', <EvidenceId key="id" evidence={evidence} ticket={ticket} me={me} />],
          ['Recorded', <Time key="recorded" seconds={recorded_at} />],
          ...(request ? factsOf(request) : plainFacts(resource)),
        ]}
      />
      {request && <RequestEvidence request={request} />}
      <Disclosure title="JSON">
        <Code label={`${title} as JSON`} variants={variants as readonly (readonly [string, string])[]} />
      </Disclosure>
    </Section>
  );
};

/** The things that a ticket is about, as they were when it was opened. */
export const TicketEvidence = ({ ticket }: { ticket: Ticket }) => {
  const me = useSignedIn();
  const evidence = useRead('GET /v1/tickets/{id}/evidence', { parameters: { id: ticket.id } }, { enabled: ticket.evidence.length > 0 });
  if (ticket.evidence.length === 0) return null;
  return (
    <Loaded query={evidence}>
      {({ data }) => (
        <>
          {data.length < ticket.evidence.length && <Notice>Some of the resources of this ticket aren't visible to you.</Notice>}
          {data.map((each, i) => (
            <EvidenceCard
              key={each.id}
              title={`${TITLES[each.type]}${data.length > 1 ? `, ${i + 1} of ${data.length}` : ''}`}
              evidence={each}
              ticket={ticket}
              me={me}
            />
          ))}
        </>
      )}
    </Loaded>
  );
};
