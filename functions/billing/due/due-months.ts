import { closableAt, monthOf, nextMonth, startOfMonth } from '../../../shared/billing/month.ts';

/** Months of an organization that are sent at once; the next hour sends more. */
const MAX_MONTHS = 12;

/** The last UTC month that can be closed. */
export const lastClosableMonth = (nowMs: number): string => {
  const previous = monthOf(startOfMonth(monthOf(nowMs)) - 1);
  return nowMs >= closableAt(previous) ? previous : monthOf(startOfMonth(previous) - 1);
};

/**
 * The months of an organization to close, oldest first.
 * @param lastClosed the last month that is closed; null: none, so the first one is that of the organization's creation
 */
export const dueMonths = (createdAtMs: number, lastClosed: string | null, lastClosable: string): string[] => {
  const due: string[] = [];
  let month = lastClosed === null ? monthOf(createdAtMs) : nextMonth(lastClosed);
  for (; month <= lastClosable && due.length < MAX_MONTHS; month = nextMonth(month)) due.push(month);
  return due;
};
