import { type AuditDependencies, commit } from '../../shared/audit/commit.ts';
import type { Origin } from '../../shared/audit/origin.ts';
import { MAX_WRITES, transact, type Write } from '../../shared/database/transaction.ts';
import type { Ticket } from '../../shared/tickets/ticket.ts';
import type { TicketStore } from '../../shared/tickets/ticket-store.ts';

export interface DeleteTicketDependencies extends AuditDependencies {
  tickets: Pick<TicketStore, 'otherRows' | 'toDelete' | 'toDeleteRow'>;
}

/**
 * Deletes a ticket: first its messages and other rows, at last its own row with its entries in lists. After a crash it
 * is still in a list, so that it can be found again. Its files must be gone.
 * @throws PreconditionFailed if somebody changed it at the same time
 */
export const deleteTicket = async (
  deps: DeleteTicketDependencies,
  ticket: Ticket,
  { origin, reason }: { origin: Origin; reason: string },
): Promise<void> => {
  let writes: Write[] = [];
  const flush = async (): Promise<void> => {
    if (writes.length > 0) await transact(deps.database, writes);
    writes = [];
  };
  for await (const place of deps.tickets.otherRows(ticket.id)) {
    writes.push(deps.tickets.toDeleteRow(place));
    if (writes.length === MAX_WRITES) await flush();
  }
  await flush();
  const change = { action: 'ticket.deleted', organization: ticket.organization, target: { type: 'ticket', id: ticket.id }, reason };
  await commit(deps, origin, change, deps.tickets.toDelete(ticket));
};
