import type { Actor } from '../../../../functions/control/access/actor.ts';
import type { TicketDependencies } from '../../../../functions/control/tickets/dependencies.ts';
import { listTickets, TicketsQuery } from '../../../../functions/control/tickets/list-tickets.ts';
import { listEvidence, listHistory } from '../../../../functions/control/tickets/read-ticket.ts';
import { visibleTicket } from '../../../../functions/control/tickets/ticket-access.ts';
import { toTicketResource } from '../../../../functions/control/tickets/ticket-resource.ts';
import { updateTicket } from '../../../../functions/control/tickets/update-ticket.ts';
import { listMessages, writeMessage } from '../../../../functions/control/tickets/write-message.ts';
import type { Origin } from '../../../../shared/audit/origin.ts';
import type { Page, PageRequest } from '../../../../shared/http/page.ts';
import type { TicketStatus } from '../../../../shared/tickets/ticket.ts';
import type { TicketTask } from '../options.ts';
import { drawTicket, drawTickets } from './draw-tickets.ts';

const SUPPORTS_TURN: readonly TicketStatus[] = ['open', 'waiting_on_support'];
const LISTED = 50;
// The most pages that a ticket's messages or history can have.
const MAX_ENTRY_PAGES = 30;
const PAGE = 100;

// Commands run with the deployment's own credentials.
const asSupport = (origin: Origin): Actor => ({
  userId: `operator:${origin.actor.id}`,
  email: '',
  role: 'support',
  organization: null,
  maxApiKeys: 0,
  origin,
});

const allOf = async <Entry>(page: (request: PageRequest) => Promise<Page<Entry>>): Promise<Entry[]> => {
  const all: Entry[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < MAX_ENTRY_PAGES; pages++) {
    const { data, next } = await page({ limit: PAGE, after });
    all.push(...data);
    if (next === null) break;
    after = next;
  }
  return all;
};

const show = async (deps: TicketDependencies, actor: Actor, id: string): Promise<string> => {
  const ticket = toTicketResource(await visibleTicket(deps, actor, id), 'support', actor.origin.nowMs);
  return drawTicket(ticket, {
    messages: await allOf((page) => listMessages(deps, actor, id, page)),
    history: await allOf((page) => listHistory(deps, actor, id, page)),
    evidence: (await listEvidence(deps, actor, id)).data,
  });
};

/**
 * Lists tickets, or shows one after what is to be done with it, with the control plane's own rules.
 * @returns text for a terminal
 * @throws 400, 404, 409
 */
export const answerTickets = async (
  deps: TicketDependencies,
  origin: Origin,
  {
    statuses,
    organization,
    desk,
  }: { statuses: readonly TicketStatus[] | undefined; organization: string | undefined; desk: TicketTask | undefined },
): Promise<string> => {
  const actor = asSupport(origin);
  if (!desk) {
    const query = TicketsQuery.parse({
      limit: LISTED,
      status: statuses ?? SUPPORTS_TURN,
      ...(organization !== undefined && { organization }),
    });
    return drawTickets(await listTickets(deps, actor, query), origin.nowMs);
  }
  if (desk.message) await writeMessage(deps, actor, desk.ticket, desk.message);
  if (desk.resolves) await updateTicket(deps, actor, desk.ticket, { status: 'resolved' });
  return show(deps, actor, desk.ticket);
};
