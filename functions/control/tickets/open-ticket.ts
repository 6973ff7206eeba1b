import { ApiError, Forbidden } from '../../../shared/http/errors.ts';
import { newTimedId } from '../../../shared/ids/id.ts';
import type { Ticket, TicketMessage } from '../../../shared/tickets/ticket.ts';
import { HOUR_MS } from '../../../shared/time/units.ts';
import { type Actor, organizationFor } from '../access/actor.ts';
import { CALL_LIMITS } from '../access/call-limits.ts';
import type { OpenTicketDependencies } from './dependencies.ts';
import { collectEvidence } from './evidence/collect-evidence.ts';
import { saveTicket, toNotify } from './save-ticket.ts';
import { sideOf } from './ticket-access.ts';
import { type NewTicket, type TicketResource, toTicketResource } from './ticket-resource.ts';

const { max: MAX_AN_HOUR } = CALL_LIMITS.tickets.bounds[0];

class TooManyTickets extends ApiError {
  constructor(nowMs: number) {
    super({
      status: 429,
      type: 'requests',
      code: 'too_many_tickets',
      message: `An organization can open at most ${MAX_AN_HOUR} tickets an hour. Add a message to an open ticket, or try again later.`,
      headers: { 'retry-after': String(Math.ceil((HOUR_MS - (nowMs % HOUR_MS)) / 1_000)) },
    });
  }
}

/**
 * Opens a ticket, with the current state of the requests, the deployment and the invoice that it names.
 * @throws 400, 403, 404, 409, 429
 */
export const openTicket = async (deps: OpenTicketDependencies, actor: Actor, body: NewTicket): Promise<TicketResource> => {
  if (sideOf(actor) === 'support')
    throw new Forbidden({ message: 'Only users of an organization can open tickets. Support can reply only to existing tickets.' });
  const organization = organizationFor(actor, undefined);
  const { nowMs } = actor.origin;
  const evidence = await collectEvidence(deps, actor, body);
  const { subject, severity, category } = body;
  const ticket: Ticket = {
    id: newTimedId('ticket', nowMs),
    organization,
    subject,
    severity,
    category,
    status: 'open',
    created_by: actor.userId,
    email: actor.email,
    assignee: null,
    evidence: evidence.map(({ type, id }) => ({ type, id })),
    message_count: 1,
    created_at: nowMs,
    updated_at: nowMs,
    closes_at: null,
    clocks: deps.clocks.start(severity, nowMs),
    version: 1,
  };
  const message: TicketMessage = {
    id: newTimedId('message', nowMs),
    author: { side: 'customer', user: actor.userId },
    body: body.body,
    attachments: [],
    at: nowMs,
  };
  await saveTicket(
    deps,
    actor,
    [{ action: 'ticket.created', after: ticket, audience: 'everyone' }],
    [
      deps.quotas.toCount(
        { kind: 'ticket', span: 'hour', account: organization, max: MAX_AN_HOUR },
        nowMs,
        () => new TooManyTickets(nowMs),
      ),
      ...deps.tickets.toCreate(ticket),
      deps.tickets.toAddMessage(ticket.id, message, 'everyone'),
      ...evidence.map((each) => deps.tickets.toAddEvidence(ticket.id, each)),
      toNotify(deps, 'sluice.ticket.created.v1', actor, ticket, message),
    ],
  );
  return toTicketResource(ticket, 'customer', nowMs);
};
