import { commit } from '../../shared/audit/commit.ts';
import { systemOrigin } from '../../shared/audit/origin.ts';
import { MAX_WRITES, transact, type Write } from '../../shared/database/transaction.ts';
import { PreconditionFailed } from '../../shared/http/errors.ts';
import type { SupportDependencies } from './dependencies.ts';

/**
 * Deletes a ticket: first its files, then its messages and whatever else it has, at last its own row with its entries in lists. After a crash it is
 * still in a list, so the next run goes on.
 * @returns whether it is gone
 */
const deleteTicket = async (deps: SupportDependencies, id: string): Promise<boolean> => {
  const ticket = await deps.tickets.find(id);
  if (ticket?.status !== 'closed') return false;
  const { organization } = ticket;
  if (!(await deps.deleteFiles({ organization, ticket: id }))) return false;
  let writes: Write[] = [];
  const flush = async (): Promise<void> => {
    if (writes.length > 0) await transact(deps.database, writes);
    writes = [];
  };
  for await (const place of deps.tickets.otherRows(id)) {
    writes.push(deps.tickets.toDeleteRow(place));
    if (writes.length === MAX_WRITES) await flush();
  }
  await flush();
  const change = { action: 'ticket.deleted', organization, target: { type: 'ticket', id }, reason: 'retention' };
  await commit(deps, systemOrigin('support', deps.now()), change, deps.tickets.toDelete(ticket));
  return true;
};

/** Deletes tickets that closed too long ago. Nobody can reopen one at that age. @returns how many */
export const deleteExpired = async (deps: SupportDependencies): Promise<number> => {
  let deleted = 0;
  for await (const { id, updated_at } of deps.tickets.ofStatus('closed')) {
    if (updated_at + deps.retentionMs > deps.now() || !deps.hasTime()) break;
    try {
      if (await deleteTicket(deps, id)) deleted += 1;
    } catch (error) {
      // Somebody changed it at the same time.
      if (!(error instanceof PreconditionFailed)) throw error;
    }
  }
  return deleted;
};
