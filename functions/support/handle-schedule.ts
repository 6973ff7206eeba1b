import { logError, logInfo } from '../../shared/logging/log.ts';
import { closeResolved } from './close-resolved.ts';
import { countTickets } from './count-tickets.ts';
import { deleteExpired } from './delete-expired.ts';
import type { SupportDependencies } from './dependencies.ts';

/**
 * Closes, deletes and counts tickets, as time requires. A failure of one does not stop the others.
 * @throws AggregateError at the end
 */
export const handleSchedule = async (deps: SupportDependencies): Promise<void> => {
  const errors: unknown[] = [];
  const attempt = async <Result>(name: string, work: () => Promise<Result>): Promise<Result | undefined> => {
    try {
      return await work();
    } catch (error) {
      logError(name, error);
      errors.push(error);
      return undefined;
    }
  };
  const closed = await attempt('tickets_not_closed', () => closeResolved(deps));
  const deleted = await attempt('tickets_not_deleted', () => deleteExpired(deps));
  const counts = await attempt('tickets_not_counted', () => countTickets(deps));
  if (counts) logInfo('tickets_counted', { ...counts, closed: closed ?? 0, deleted: deleted ?? 0 });
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of 3 tasks failed.`);
};
