import { can, useSignedIn } from '../../client/me.ts';
import { CopyText } from '../../design/controls/copy.tsx';
import { IdLink } from '../../design/controls/id-link.tsx';
import { Chip, Time } from '../../design/data/values.tsx';
import { Facts, Section } from '../../design/layout/layout.tsx';
import type { Ticket } from '../tickets/ticket-words.ts';

const Person = ({ id, ownId }: { id: string; ownId: string }) => (id === ownId ? 'you' : <CopyText text={id} />);

const Promised = ({ dueAt, doneAt }: { dueAt: number; doneAt?: number | null }) => {
  const isLate = (doneAt ?? Date.now() / 1_000) > dueAt;
  return (
    <>
      {doneAt ? 'given ' : 'due '}
      <Time seconds={doneAt ?? dueAt} /> {isLate && <Chip state={doneAt ? 'late' : 'overdue'} tone="bad" />}
    </>
  );
};

/** The facts of a ticket, such as the times by which support promised to respond. */
export const TicketFacts = ({ ticket }: { ticket: Ticket }) => {
  const me = useSignedIn();
  const isSupport = can(me, 'tickets:answer');
  const { first_response_at, first_response_due_at, resolution_due_at, closes_at, status } = ticket;
  return (
    <Section title="Ticket" isCard>
      <Facts
        facts={[
          [
            'First response',
            first_response_due_at === undefined ? (
              <Time key="first" seconds={first_response_at} never="not yet" />
            ) : (
              <Promised key="first" dueAt={first_response_due_at} doneAt={first_response_at} />
            ),
          ],
          ['Resolution', resolution_due_at ? <Promised key="resolution" dueAt={resolution_due_at} /> : undefined],
          [
            'Resolution',
            resolution_due_at === null && status === 'waiting_on_customer' ? 'paused while waiting for the customer' : undefined,
          ],
          [status === 'closed' ? 'Closed' : 'Closes', closes_at === null ? undefined : <Time key="closes" seconds={closes_at} />],
          [
            'Assigned to',
            isSupport ? ticket.assignee ? <Person key="assignee" id={ticket.assignee} ownId={me.id} /> : 'unassigned' : undefined,
          ],
          ['Category', ticket.category],
          ['Organization', isSupport ? <IdLink key="organization" id={ticket.organization} /> : undefined],
          ['Opened by', <Person key="by" id={ticket.created_by} ownId={me.id} />],
          ['Opened', <Time key="opened" seconds={ticket.created_at} />],
          ['Last change', <Time key="changed" seconds={ticket.updated_at} />],
          ['Id', <CopyText key="id" text={ticket.id} />],
        ]}
      />
    </Section>
  );
};
