import type { Page, PageRequest } from '../../../shared/http/page.ts';
import type { Actor } from '../access/actor.ts';
import type { TicketDependencies } from './dependencies.ts';
import { inOrder } from './merge-pages.ts';
import { sideOf, visibleTicket } from './ticket-access.ts';
import { type EvidenceResource, type HistoryResource, toEvidenceResource, toHistoryResource } from './ticket-resource.ts';

type Reads = Pick<TicketDependencies, 'tickets'>;

/** A page of the history, oldest first. Support's has assignments and notes among it. @throws 404 */
export const listHistory = async ({ tickets }: Reads, actor: Actor, id: string, page: PageRequest): Promise<Page<HistoryResource>> => {
  await visibleTicket({ tickets }, actor, id);
  const side = sideOf(actor);
  const ofEveryone = await tickets.history(id, 'everyone', page);
  const ofSupport = side === 'support' ? await tickets.history(id, 'support', page) : { entries: [], hasMore: false };
  const { entries, ...rest } = inOrder([ofEveryone, ofSupport], page.limit);
  return { object: 'list', data: entries.map((line) => toHistoryResource(line, side)), ...rest };
};

/** All evidence of a ticket. @throws 404 */
export const listEvidence = async ({ tickets }: Reads, actor: Actor, id: string): Promise<Page<EvidenceResource>> => {
  await visibleTicket({ tickets }, actor, id);
  const evidence = await tickets.evidence(id);
  return { object: 'list', data: evidence.map((each) => toEvidenceResource(each, sideOf(actor))), has_more: false, next: null };
};
