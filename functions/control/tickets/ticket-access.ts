import { Forbidden, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Side, Ticket } from '../../../shared/tickets/ticket.ts';
import type { Audience, TicketStore } from '../../../shared/tickets/ticket-store.ts';
import { type Actor, can, type Rights, seesOnlyOwn } from '../access/actor.ts';

type Person = Rights & Pick<Actor, 'organization' | 'userId'>;

/** Returns the side of a ticket that someone is on. Nobody can act for the other side. */
export const sideOf = (actor: Rights): Side => (can(actor, 'tickets:answer') ? 'support' : 'customer');

/** Returns the audiences whose messages someone can read. */
export const audiencesOf = (actor: Rights): readonly Audience[] => (sideOf(actor) === 'support' ? ['everyone', 'support'] : ['everyone']);

/** Members see the tickets that they opened, users with the reach of an organization all of it, support all. */
export const isVisibleTo = (actor: Person, ticket: Pick<Ticket, 'organization' | 'created_by'>): boolean =>
  sideOf(actor) === 'support' ||
  (ticket.organization === actor.organization && (!seesOnlyOwn(actor) || ticket.created_by === actor.userId));

/** Returns a ticket that the actor can see. @throws 404 */
export const visibleTicket = async ({ tickets }: { tickets: Pick<TicketStore, 'find'> }, actor: Person, id: string): Promise<Ticket> => {
  const ticket = await tickets.find(id);
  if (!ticket || !isVisibleTo(actor, ticket)) throw new ResourceNotFound('ticket', id);
  return ticket;
};

/** Rejects requests that only support can make. @param param the field of the request @throws 403 */
export const requireSupport = (actor: Rights, param: string): void => {
  if (sideOf(actor) !== 'support') throw new Forbidden({ param, message: `Only support can set '${param}'. Leave it out.` });
};
