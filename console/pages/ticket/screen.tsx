import { Link, useParams } from 'wouter';
import { can, useSignedIn } from '../../client/me.ts';
import { useRead } from '../../client/queries.ts';
import { Notice } from '../../design/feedback/failure.tsx';
import { Loaded } from '../../design/feedback/loaded.tsx';
import { Page, WithAside } from '../../design/layout/layout.tsx';
import { readerOf, TicketDue, TicketSeverity, TicketState } from '../tickets/ticket-chips.tsx';
import { clockOf } from '../tickets/ticket-clock.ts';
import type { Ticket } from '../tickets/ticket-words.ts';
import { Conversation } from './conversation.tsx';
import { TicketEvidence } from './evidence.tsx';
import { TicketHistory } from './history.tsx';
import { ReplyForm } from './reply-form.tsx';
import { TicketActions } from './ticket-actions.tsx';
import { TicketFacts } from './ticket-facts.tsx';

const POLL_MS = 15_000;

const TicketPage = ({ ticket, error }: { ticket: Ticket; error: Error | null }) => {
  const me = useSignedIn();
  const isSupport = can(me, 'tickets:answer');
  return (
    <Page
      title={ticket.subject}
      status={
        <>
          <TicketState status={ticket.status} reader={readerOf(me)} />
          <TicketSeverity severity={ticket.severity} />
        </>
      }
      description={<Link to="/tickets">All tickets</Link>}
      actions={<TicketActions ticket={ticket} />}
    >
      {error && <Notice tone="warn">This may be out of date: {error.message}</Notice>}
      {clockOf(ticket, Date.now() / 1_000)?.isOverdue && (
        <Notice tone="warn">
          <TicketDue ticket={ticket} />
        </Notice>
      )}
      <WithAside
        aside={
          <>
            <TicketFacts ticket={ticket} />
            <TicketEvidence ticket={ticket} />
          </>
        }
      >
        <Conversation ticket={ticket} />
        {can(me, 'tickets:write') && <ReplyForm ticket={ticket} isSupport={isSupport} />}
        <TicketHistory ticket={ticket.id} />
      </WithAside>
    </Page>
  );
};

/** One ticket. */
export const Screen = () => {
  const { id = '' } = useParams();
  const ticket = useRead('GET /v1/tickets/{id}', { parameters: { id } }, { refetchMs: POLL_MS });
  if (ticket.data) return <TicketPage key={id} ticket={ticket.data} error={ticket.error} />;
  return (
    <Page title="Ticket">
      <Loaded query={ticket}>{() => null}</Loaded>
    </Page>
  );
};
