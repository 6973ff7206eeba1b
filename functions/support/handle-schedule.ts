import { throwFailures } from '../../shared/database/in-parallel.ts';
import { logError, logInfo } from '../../shared/logging/log.ts';
import type { OnFailure } from './attempt-ticket.ts';
import { closeResolved } from './close-resolved.ts';
import { countTickets } from './count-tickets.ts';
import { deleteExpired } from './delete-expired.ts';
import type { SupportDependencies } from './dependencies.ts';

/**
 * Closes, deletes and counts tickets, as time requires. A failure of one task or ticket does not stop the others.
 * @throws AggregateError at the end
 */
export const handleSchedule = async (deps: SupportDependencies): Promise<void> => {
  const errors: unknown[] = [];
  const attempt = async <Result>(name: string, work: (onFailure: OnFailure) => Promise<Result>): Promise<Result | undefined> => {
    const note = (error: unknown, ticket?: string): void => {
      logError(name, error, { ticket });
      errors.push(error);
    };
    try {
      return await work(note);
    } catch (error) {
      note(error);
      return undefined;
    }
  };
  const closed = await attempt('tickets_not_closed', (onFailure) => closeResolved(deps, onFailure));
  const deleted = await attempt('tickets_not_deleted', (onFailure) => deleteExpired(deps, onFailure));
  const counts = await attempt('tickets_not_counted', () => countTickets(deps));
  if (counts) logInfo('tickets_counted', { ...counts, closed: closed ?? 0, deleted: deleted ?? 0 });
  throwFailures(errors);
};
