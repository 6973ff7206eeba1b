import { systemOrigin } from '../../shared/audit/origin.ts';
import { PreconditionFailed } from '../../shared/http/errors.ts';
import { deleteTicket } from './delete-ticket.ts';
import type { SupportDependencies } from './dependencies.ts';

const deleteClosed = async (deps: SupportDependencies, id: string): Promise<boolean> => {
  const ticket = await deps.tickets.find(id);
  if (ticket?.status !== 'closed') return false;
  if (!(await deps.deleteFiles({ organization: ticket.organization, ticket: id }))) return false;
  await deleteTicket(deps, ticket, { origin: systemOrigin('support', deps.now()), reason: 'retention' });
  return true;
};

/** Deletes tickets that closed too long ago. Nobody can reopen one at that age. @returns their number */
export const deleteExpired = async (deps: SupportDependencies): Promise<number> => {
  let deleted = 0;
  for await (const { id, updated_at } of deps.tickets.ofStatus('closed')) {
    if (updated_at + deps.retentionMs > deps.now() || !deps.hasTime()) break;
    try {
      if (await deleteClosed(deps, id)) deleted += 1;
    } catch (error) {
      // Somebody changed it at the same time.
      if (!(error instanceof PreconditionFailed)) throw error;
    }
  }
  return deleted;
};
