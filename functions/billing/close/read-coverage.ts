import type { BilledDay, BilledMonth } from '../../../shared/billing/billed-month.ts';
import type { BilledMonthsStore } from '../../../shared/billing/billed-months-store.ts';
import { daysOfMonth } from '../../../shared/billing/month.ts';
import type { ModelPromises } from '../../../shared/service-levels/promise.ts';
import { monthOfDay } from './day-file.ts';
import { type DayTotals, isSame, readDayTotals, reportDifferences, type TotalsDependencies } from './day-totals.ts';
import type { InputDay } from './inputs.ts';
import { type ReadDependencies, readDays } from './read-days.ts';

const CORRECTED_MONTHS = 24;
// Older months are corrected only if some of their days are noted: so many at a time, because a transaction has at most
// 100 writes.
const MAX_OLDER_MONTHS = 36;

export interface CoverageDependencies extends ReadDependencies, TotalsDependencies {
  billedMonths: BilledMonthsStore;
  gpuEvents: ReadDependencies['gpuEvents'];
}

/** The days and months that one invoice covers. */
export interface InvoiceCoverage {
  days: InputDay[];
  /** The months that the invoice changes, before and after. The first one is its own. */
  months: { before: BilledMonth | undefined; days: Record<string, BilledDay> }[];
}

const EMPTY: Pick<BilledDay, 'sha256'> = { sha256: null };

const changedDays = (months: readonly BilledMonth[], totals: ReadonlyMap<string, DayTotals>): string[] =>
  months.flatMap(({ days }) => Object.entries(days).flatMap(([day, billed]) => (isSame(billed, totals.get(day)) ? [] : [day]))).sort();

const isNoted = ({ days, suspected }: BilledMonth, markers: ReadonlyMap<string, string>): boolean =>
  suspected.length > 0 || Object.keys(days).some((day) => markers.has(day));

// Clears the re-rate markers of days whose billed totals already match their events. Other days keep theirs, so the
// next invoice checks them again.
const clearMarkers = async (
  { billedMonths }: CoverageDependencies,
  organization: string,
  markers: ReadonlyMap<string, string>,
  isBilled: (day: string) => boolean,
): Promise<void> => {
  for (const [day, marker] of markers) if (isBilled(day)) await billedMonths.forgetRatedAgain(organization, day, marker);
};

/**
 * Reads the days that an invoice covers: those of its month, and days of closed months that changed since they were
 * billed: of the last 24 months if their totals differ, and of any month if their events were rated again, or the
 * invoice that billed the change is void.
 * @throws OutOfTime
 */
export const readCoverage = async (
  deps: CoverageDependencies,
  { organization, month, invoice, promises }: { organization: string; month: string; invoice: string; promises: readonly ModelPromises[] },
): Promise<InvoiceCoverage> => {
  const ownDays = daysOfMonth(month);
  const markers = await deps.billedMonths.daysRatedAgain(organization);
  const storedBefore = await deps.billedMonths.readDays(organization, invoice);
  await readDays(deps, { organization, reader: invoice, days: ownDays, promises });
  const everClosed = await Array.fromAsync(deps.billedMonths.all(organization));
  const older = everClosed.slice(0, -CORRECTED_MONTHS).filter((each) => isNoted(each, markers));
  const correctable = [...older.slice(0, MAX_OLDER_MONTHS), ...everClosed.slice(-CORRECTED_MONTHS)];
  const closed = correctable.filter((each) => each.month !== month);
  const all = [...ownDays, ...closed.flatMap(({ days }) => Object.keys(days))].sort();
  const totals = await readDayTotals(deps, organization, all[0] as string, all.at(-1) as string);
  const before = new Map(closed.flatMap(({ days }) => Object.entries(days)));
  const marked = [...markers.keys()].filter((day) => before.has(day));
  const suspected = [...new Set([...changedDays(closed, totals), ...marked, ...closed.flatMap((billed) => billed.suspected)])].sort();
  const stored = await readDays(deps, { organization, reader: invoice, days: [...ownDays, ...suspected], promises });
  const read = new Map([...ownDays, ...suspected].map((day) => [day, stored.get(day) as BilledDay]));
  reportDifferences({ organization, month }, read, totals);
  const isBilled = (day: string): boolean => before.get(day)?.sha256 === read.get(day)?.sha256;
  await clearMarkers(deps, organization, markers, (day) => before.has(day) && !storedBefore.has(day) && isBilled(day));

  const readOf = (days: readonly string[]): Record<string, BilledDay> =>
    Object.fromEntries(days.map((day) => [day, read.get(day) as BilledDay]));
  // Unchanged days are not inputs: the invoice can be reproduced without them.
  const changed = suspected.filter((day) => !isBilled(day));
  const corrected = closed.flatMap((billed) => {
    const days = changed.filter((day) => monthOfDay(day) === billed.month);
    return days.length === 0 ? [] : [{ before: billed, days: { ...billed.days, ...readOf(days) } }];
  });
  return {
    days: [...ownDays, ...changed].map((day) => ({
      day,
      before: (before.get(day) ?? EMPTY).sha256,
      read: (read.get(day) as BilledDay).sha256,
    })),
    months: [{ before: undefined, days: readOf(ownDays) }, ...corrected],
  };
};
