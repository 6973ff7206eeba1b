import { DatabaseUnavailable } from '../../shared/database/outage.ts';

/** Is called with the error of a ticket that could not be closed or deleted. The next run tries it again. */
export type OnFailure = (error: unknown, ticket: string) => void;

/**
 * Works on a ticket, so that one that fails each time does not hold up those behind it.
 * @returns what the work returned; false if it failed
 * @throws DatabaseUnavailable, because the other tickets would fail with it, too
 */
export const attemptTicket = async (ticket: string, work: () => Promise<boolean>, onFailure: OnFailure): Promise<boolean> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    onFailure(error, ticket);
    return false;
  }
};
