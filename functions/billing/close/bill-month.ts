import type { BilledDay, BilledMonth } from '../../../shared/billing/billed-month.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import { daysOfMonth } from '../../../shared/billing/month.ts';
import { type DayTotals, isSame, readDayTotals, reportDifferences, type TotalsDependencies } from './day-totals.ts';
import { type InputDay, monthOfDay } from './inputs.ts';
import { type ReadDependencies, readDays } from './read-days.ts';

/** Usage that comes this many months after its month was closed is billed as a correction. */
export const CORRECTED_MONTHS = 24;

export interface BillDependencies extends ReadDependencies, TotalsDependencies {
  billedMonths: BilledMonthsStore;
  gpuEvents: ReadDependencies['gpuEvents'];
}

/** What an invoice bills. */
export interface Billed {
  days: InputDay[];
  /** The months that it changes: as they were, and as they will be. The first one is its own. */
  months: { before: BilledMonth | undefined; days: Record<string, BilledDay> }[];
}

const EMPTY: Pick<BilledDay, 'sha256'> = { sha256: null };

/** Days of closed months that have changed: events came later, or were rated again. */
const changedDays = (months: readonly BilledMonth[], totals: ReadonlyMap<string, DayTotals>): string[] =>
  months.flatMap(({ days }) => Object.entries(days).flatMap(([day, billed]) => (isSame(billed, totals.get(day)) ? [] : [day]))).sort();

/**
 * Reads what an invoice bills: its month, and those days of the last 24 closed months that have changed since they were billed.
 * @throws OutOfTime
 */
export const readBilled = async (
  deps: BillDependencies,
  { organization, month, invoice }: { organization: string; month: string; invoice: string },
): Promise<Billed> => {
  const ownDays = daysOfMonth(month);
  await readDays(deps, { organization, invoice, days: ownDays });
  const closed = (await deps.billedMonths.last(organization, CORRECTED_MONTHS)).filter((billed) => billed.month !== month);
  const all = [...ownDays, ...closed.flatMap(({ days }) => Object.keys(days))].sort();
  const totals = await readDayTotals(deps, organization, all[0] as string, all.at(-1) as string);
  const changed = changedDays(closed, totals);
  const kept = await readDays(deps, { organization, invoice, days: [...ownDays, ...changed] });
  const read = new Map([...ownDays, ...changed].map((day) => [day, kept.get(day) as BilledDay]));
  reportDifferences({ organization, month }, read, totals);

  const readOf = (days: readonly string[]): Record<string, BilledDay> =>
    Object.fromEntries(days.map((day) => [day, read.get(day) as BilledDay]));
  const corrected = closed.flatMap((before) => {
    const days = changed.filter((day) => monthOfDay(day) === before.month);
    return days.length === 0 ? [] : [{ before, days: { ...before.days, ...readOf(days) } }];
  });
  const before = new Map(closed.flatMap(({ days }) => Object.entries(days)));
  return {
    days: [...read].map(([day, { sha256 }]) => ({ day, before: (before.get(day) ?? EMPTY).sha256, read: sha256 })),
    months: [{ before: undefined, days: readOf(ownDays) }, ...corrected],
  };
};
