import { closableAt, monthOf, nextMonth, startOfMonth } from '../../../shared/billing/month.ts';

/** The number of closed months that are searched for skipped ones. */
export const SEARCHED_MONTHS = 24;

const previousMonth = (month: string): string => monthOf(startOfMonth(month) - 1);

/** The last UTC month that can be closed. */
export const lastClosableMonth = (nowMs: number): string => {
  const previous = previousMonth(monthOf(nowMs));
  return nowMs >= closableAt(previous) ? previous : previousMonth(previous);
};

/**
 * The first month of an organization to close. Later ones follow when it is closed.
 * @param lastClosed null if no month is closed; the first one is then that of the organization's creation
 * @returns undefined if no month is due
 */
export const dueMonth = (createdAtMs: number, lastClosed: string | null, lastClosable: string): string | undefined => {
  const next = lastClosed === null ? monthOf(createdAtMs) : nextMonth(lastClosed);
  return next <= lastClosable ? next : undefined;
};

/**
 * Months before the last closed one that are not closed, oldest first: their invoice is void, or an earlier release
 * closed a later month after a failure.
 * @param closed the last `SEARCHED_MONTHS` closed months, in any order
 */
export const skippedMonths = (createdAtMs: number, lastClosed: string, closed: readonly string[]): string[] => {
  const skipped: string[] = [];
  let month = previousMonth(lastClosed);
  for (let i = 1; i < SEARCHED_MONTHS && month >= monthOf(createdAtMs); i++) {
    if (!closed.includes(month)) skipped.unshift(month);
    month = previousMonth(month);
  }
  return skipped;
};
