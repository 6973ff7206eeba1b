import * as z from 'zod';
import { type Page, pageQuery, WrongCursor } from '../../../shared/http/page.ts';
import { statusAt } from '../../../shared/tickets/lifecycle.ts';
import { Category, Severity, TicketStatus, type TicketSummary } from '../../../shared/tickets/ticket.ts';
import { isPosition, type TicketList } from '../../../shared/tickets/ticket-store.ts';
import { SECOND_MS } from '../../../shared/time/units.ts';
import { type Actor, organizationFor } from '../access/actor.ts';
import { OrganizationId } from '../organizations/organization.ts';
import type { OpenTicketDependencies } from './dependencies.ts';
import { isVisibleTo, requireSupport, sideOf } from './ticket-access.ts';
import { type TicketListEntry, toListEntry } from './ticket-resource.ts';

export const TicketsQuery = z.strictObject({
  ...pageQuery,
  status: z.array(TicketStatus).max(5).optional().meta({ description: 'Only tickets with one of these statuses. Repeat it for several.' }),
  severity: z.array(Severity).max(4).optional().meta({ description: 'Only tickets of one of these severities. Repeat it for several.' }),
  category: z.array(Category).max(5).optional().meta({ description: 'Only tickets of one of these categories. Repeat it for several.' }),
  assignee: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Only tickets of this user of support; `none`: only unassigned ones. For support.' }),
  updated_since: z.coerce.number().pipe(z.int().min(0)).optional().meta({
    description: 'Only tickets that changed at this time or later (Unix time in seconds).',
    type: 'integer',
  }),
  organization: OrganizationId.optional().meta({ description: 'Only tickets of this organization. For support.' }),
});
type TicketsQuery = z.output<typeof TicketsQuery>;

// A ticket that has just closed by itself is still in the list of resolved ones.
const listFor = (actor: Actor, { organization, status }: TicketsQuery): TicketList => {
  if (sideOf(actor) === 'customer') return { organization: organizationFor(actor, organization) };
  if (organization !== undefined) return { organization };
  const statuses = new Set(status ?? TicketStatus.options);
  if (statuses.has('closed')) statuses.add('resolved');
  return { statuses: [...statuses] };
};

const matcherFor =
  (actor: Actor, { status, severity, category, assignee }: TicketsQuery) =>
  (ticket: TicketSummary): boolean =>
    isVisibleTo(actor, ticket) &&
    (status === undefined || status.includes(statusAt(ticket, actor.origin.nowMs))) &&
    (severity === undefined || severity.includes(ticket.severity)) &&
    (category === undefined || category.includes(ticket.category)) &&
    (assignee === undefined || (ticket.assignee ?? 'none') === assignee);

/**
 * Lists the tickets that an actor can see, the last change first. A page can be short, or empty, although there are
 * more.
 * @throws 400, 403, 404
 */
export const listTickets = async (
  deps: Pick<OpenTicketDependencies, 'tickets'>,
  actor: Actor,
  query: TicketsQuery,
): Promise<Page<TicketListEntry>> => {
  if (query.assignee !== undefined) requireSupport(actor, 'assignee');
  if (query.after !== undefined && !isPosition(query.after)) throw new WrongCursor();
  const { tickets, next } = await deps.tickets.list(listFor(actor, query), {
    limit: query.limit,
    after: query.after,
    sinceMs: query.updated_since === undefined ? undefined : query.updated_since * SECOND_MS,
    matches: matcherFor(actor, query),
  });
  const data = tickets.map((ticket) => toListEntry(ticket, sideOf(actor), actor.origin.nowMs));
  return { object: 'list', data, has_more: next !== undefined, next: next ?? null };
};
