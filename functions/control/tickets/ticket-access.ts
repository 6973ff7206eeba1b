import { Forbidden, ResourceNotFound } from '../../../shared/http/errors.ts';
import type { Side, Ticket } from '../../../shared/tickets/ticket.ts';
import type { Audience, TicketStore } from '../../../shared/tickets/ticket-store.ts';
import { type Actor, isAtLeast, isPlatformRole } from '../access/actor.ts';

type Person = Pick<Actor, 'role' | 'organization' | 'userId'>;

/** Returns the side of a ticket that someone is on. Nobody can act for the other side. */
export const sideOf = ({ role }: Pick<Actor, 'role'>): Side => (isPlatformRole(role) ? 'support' : 'customer');

/** Returns the audiences whose messages someone can read. */
export const audiencesOf = (actor: Pick<Actor, 'role'>): readonly Audience[] =>
  sideOf(actor) === 'support' ? ['everyone', 'support'] : ['everyone'];

/** Members see the tickets that they opened, owners those of their organization, support all. */
export const isVisibleTo = ({ role, organization, userId }: Person, ticket: Pick<Ticket, 'organization' | 'created_by'>): boolean =>
  isPlatformRole(role) || (ticket.organization === organization && (isAtLeast(role, 'owner') || ticket.created_by === userId));

/** Returns a ticket that the actor can see. @throws 404 */
export const visibleTicket = async ({ tickets }: { tickets: Pick<TicketStore, 'find'> }, actor: Person, id: string): Promise<Ticket> => {
  const ticket = await tickets.find(id);
  if (!ticket || !isVisibleTo(actor, ticket)) throw new ResourceNotFound('ticket', id);
  return ticket;
};

/** Rejects requests that only support can make. @param param the field of the request @throws 403 */
export const requireSupport = (actor: Pick<Actor, 'role'>, param: string): void => {
  if (sideOf(actor) !== 'support') throw new Forbidden({ param, message: `Only support can set '${param}'. Leave it out.` });
};
