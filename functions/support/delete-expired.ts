import { systemOrigin } from '../../shared/audit/origin.ts';
import { PreconditionFailed } from '../../shared/http/errors.ts';
import { attemptTicket, type OnFailure } from './attempt-ticket.ts';
import { deleteTicket } from './delete-ticket.ts';
import type { SupportDependencies } from './dependencies.ts';

const deleteClosed = async (deps: SupportDependencies, id: string): Promise<boolean> => {
  const ticket = await deps.tickets.find(id);
  if (ticket?.status !== 'closed') return false;
  if (!(await deps.deleteFiles({ organization: ticket.organization, ticket: id }))) return false;
  try {
    await deleteTicket(deps, ticket, { origin: systemOrigin('support', deps.now()), reason: 'retention' });
    return true;
  } catch (error) {
    // Somebody changed it at the same time.
    if (!(error instanceof PreconditionFailed)) throw error;
    return false;
  }
};

/**
 * Deletes tickets that closed too long ago. Nobody can reopen one at that age. A failure of one does not stop the
 * others.
 * @returns the number of deleted ones
 */
export const deleteExpired = async (deps: SupportDependencies, onFailure: OnFailure): Promise<number> => {
  let deleted = 0;
  for await (const { id, updated_at } of deps.tickets.ofStatus('closed')) {
    if (updated_at + deps.retentionMs > deps.now() || !deps.hasTime()) break;
    if (await attemptTicket(id, () => deleteClosed(deps, id), onFailure)) deleted += 1;
  }
  return deleted;
};
