import type { Page, PageRequest } from '../../../shared/http/page.ts';
import type { Actor } from '../access/actor.ts';
import type { TicketDependencies } from './dependencies.ts';
import { canSeeEvidence } from './evidence/can-see-evidence.ts';
import { inOrder } from './merge-pages.ts';
import { sideOf, visibleTicket } from './ticket-access.ts';
import { type EvidenceResource, type HistoryResource, toEvidenceResource, toHistoryResource } from './ticket-resource.ts';

type Reads = Pick<TicketDependencies, 'tickets'>;

/** Lists a ticket's history, oldest first. Support's has assignments and notes among it. @throws 404 */
export const listHistory = async ({ tickets }: Reads, actor: Actor, id: string, page: PageRequest): Promise<Page<HistoryResource>> => {
  await visibleTicket({ tickets }, actor, id);
  const side = sideOf(actor);
  const ofEveryone = await tickets.history(id, 'everyone', page);
  const ofSupport = side === 'support' ? await tickets.history(id, 'support', page) : { entries: [], hasMore: false };
  const { entries, ...rest } = inOrder([ofEveryone, ofSupport], page.limit);
  return { object: 'list', data: entries.map((line) => toHistoryResource(line, side)), ...rest };
};

/**
 * Lists the evidence of a ticket that the actor can see now: an owner who opened it can have become a member.
 * @throws 404
 */
export const listEvidence = async (
  deps: Pick<TicketDependencies, 'tickets' | 'apiKeys'>,
  actor: Actor,
  id: string,
): Promise<Page<EvidenceResource>> => {
  const { organization } = await visibleTicket(deps, actor, id);
  const all = await deps.tickets.evidence(id);
  const isVisible = await Promise.all(all.map((each) => canSeeEvidence(deps, actor, organization, each)));
  const evidence = all.filter((_, i) => isVisible[i]);
  return { object: 'list', data: evidence.map((each) => toEvidenceResource(each, sideOf(actor))), has_more: false, next: null };
};
