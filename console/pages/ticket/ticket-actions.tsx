import { useState } from 'react';
import { can, useSignedIn } from '../../client/me.ts';
import { readAgain } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { RequestBody } from '../../client/routes.ts';
import { Button } from '../../design/controls/button.tsx';
import { ActionButton } from '../../design/forms/action-button.tsx';
import type { Ticket } from '../tickets/ticket-words.ts';
import { EditTicket } from './edit-ticket.tsx';

/** The actions on a ticket that its reader can take. */
export const TicketActions = ({ ticket }: { ticket: Ticket }) => {
  const me = useSignedIn();
  const [edited, setEdited] = useState<Ticket>();
  if (!can(me, 'tickets:write')) return null;
  const { id, version, status, assignee } = ticket;
  const isDone = status === 'resolved' || status === 'closed';
  // Somebody else can have changed the ticket: then it is shown as it is now.
  const readNow = () => readAgain('/v1/tickets', '/v1/summary');
  const change = (body: RequestBody<'PATCH /v1/tickets/{id}'>) =>
    request('PATCH /v1/tickets/{id}', { parameters: { id }, body, version }).finally(readNow);
  const reopen = () => request('POST /v1/tickets/{id}/reopen', { parameters: { id }, version }).finally(readNow);
  return (
    <>
      {can(me, 'tickets:answer') && status !== 'closed' && assignee !== me.id && (
        <ActionButton label="Assign to me" onAct={() => change({ assignee: me.id })} />
      )}
      {status !== 'closed' && <Button onClick={() => setEdited(ticket)}>Edit ticket</Button>}
      {isDone ? (
        <ActionButton label="Reopen ticket" onAct={reopen} />
      ) : (
        <ActionButton label="Resolve ticket" onAct={() => change({ status: 'resolved' })} />
      )}
      {edited && <EditTicket ticket={edited} onClose={() => setEdited(undefined)} />}
    </>
  );
};
