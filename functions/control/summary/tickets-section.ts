import type { TicketStatus, TicketSummary } from '../../../shared/tickets/ticket.ts';
import { MAX_READ } from '../../../shared/tickets/ticket-store.ts';
import { unixSeconds } from '../../../shared/time/units.ts';
import type { Actor } from '../access/actor.ts';
import { isVisibleTo, sideOf } from '../tickets/ticket-access.ts';
import type { SummaryDependencies } from './summary-reads.ts';
import type { TicketsSection } from './summary-resource.ts';

const SUPPORTS_TURN: readonly TicketStatus[] = ['open', 'waiting_on_support'];

type Breach = NonNullable<TicketsSection['breaching_next']>;

const clocksOf = ({ id, clocks }: TicketSummary): (Omit<Breach, 'due_at'> & { dueMs: number })[] => [
  ...(clocks.first_response_at === null ? [{ id, clock: 'first_response' as const, dueMs: clocks.first_response_due_at }] : []),
  ...(clocks.resolution_due_at === null ? [] : [{ id, clock: 'resolution' as const, dueMs: clocks.resolution_due_at }]),
];

const breachingNext = (tickets: readonly TicketSummary[]): Breach | null => {
  const [first] = tickets.flatMap(clocksOf).sort((a, b) => a.dueMs - b.dueMs);
  return first ? { id: first.id, clock: first.clock, due_at: unixSeconds(first.dueMs) } : null;
};

/** Counts the tickets whose next step is the actor's. */
export const ticketsSection = async (deps: SummaryDependencies, actor: Actor): Promise<TicketsSection> => {
  if (sideOf(actor) === 'customer') {
    const { tickets, next } = await deps.tickets.list(
      { organization: actor.organization ?? '' },
      { limit: MAX_READ, matches: (ticket) => ticket.status === 'waiting_on_customer' && isVisibleTo(actor, ticket) },
    );
    return { waiting_on_me: tickets.length, is_partial: next !== undefined };
  }
  const { tickets, next } = await deps.tickets.list({ statuses: SUPPORTS_TURN }, { limit: MAX_READ, matches: () => true });
  return {
    waiting_on_me: tickets.filter(({ assignee }) => assignee === actor.userId).length,
    unassigned: tickets.filter(({ assignee }) => assignee === null).length,
    breaching_next: breachingNext(tickets),
    is_partial: next !== undefined,
  };
};
