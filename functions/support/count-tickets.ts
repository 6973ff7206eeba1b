import { TicketStatus } from '../../shared/tickets/ticket.ts';
import type { SupportDependencies } from './dependencies.ts';

/** The statuses of tickets that are not closed. */
export const OPEN_STATUSES = TicketStatus.exclude(['closed']).options;

/** The number of tickets by status, and of late tickets. */
export interface TicketCounts {
  statuses: Record<(typeof OPEN_STATUSES)[number], number>;
  first_response_overdue: number;
  resolution_overdue: number;
}

/**
 * Counts tickets for metrics.
 * @returns undefined if there was no time for all of them, since a partial count would look like a change
 */
export const countTickets = async ({ tickets, now, hasTime }: SupportDependencies): Promise<TicketCounts | undefined> => {
  const statuses = Object.fromEntries(OPEN_STATUSES.map((status) => [status, 0])) as TicketCounts['statuses'];
  const counts: TicketCounts = { statuses, first_response_overdue: 0, resolution_overdue: 0 };
  const nowMs = now();
  for (const status of OPEN_STATUSES)
    for await (const { clocks } of tickets.ofStatus(status)) {
      if (!hasTime()) return undefined;
      statuses[status] += 1;
      if (status === 'resolved') continue;
      if (clocks.first_response_at === null && clocks.first_response_due_at < nowMs) counts.first_response_overdue += 1;
      if (clocks.resolution_due_at !== null && clocks.resolution_due_at < nowMs) counts.resolution_overdue += 1;
    }
  return counts;
};
