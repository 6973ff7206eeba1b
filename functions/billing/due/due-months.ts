import { closableAt, monthOf, nextMonth, startOfMonth } from '../../../shared/billing/month.ts';

/** Closed months of an organization among which skipped ones are looked for. */
export const LOOKED_AT = 24;

const previousMonth = (month: string): string => monthOf(startOfMonth(month) - 1);

/** The last UTC month that can be closed. */
export const lastClosableMonth = (nowMs: number): string => {
  const previous = previousMonth(monthOf(nowMs));
  return nowMs >= closableAt(previous) ? previous : previousMonth(previous);
};

/**
 * The first month of an organization to close. Later ones follow when it is closed.
 * @param lastClosed the last month that is closed; null: none, so the first one is that of the organization's creation
 * @returns undefined if there is none
 */
export const dueMonth = (createdAtMs: number, lastClosed: string | null, lastClosable: string): string | undefined => {
  const next = lastClosed === null ? monthOf(createdAtMs) : nextMonth(lastClosed);
  return next <= lastClosable ? next : undefined;
};

/**
 * Months before the last closed one that are not closed, oldest first: an invoice is void, or an earlier release
 * closed a later month although this one had failed.
 * @param closed the last `LOOKED_AT` closed months, in any order
 */
export const skippedMonths = (createdAtMs: number, lastClosed: string, closed: readonly string[]): string[] => {
  const skipped: string[] = [];
  let month = previousMonth(lastClosed);
  for (let i = 1; i < LOOKED_AT && month >= monthOf(createdAtMs); i++) {
    if (!closed.includes(month)) skipped.unshift(month);
    month = previousMonth(month);
  }
  return skipped;
};
