import type { BilledDay } from '../../../shared/billing/billed-month.ts';
import { logError } from '../../../shared/logging/log.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import { SPAN_MS } from '../../../shared/usage/organization-totals.ts';
import type { OrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';

/** The sums of a day that are compared with its events. */
export type DayTotals = Omit<BilledDay, 'sha256'>;

export interface TotalsDependencies {
  totals: Pick<OrganizationTotalsStore, 'list'>;
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
}

const NO_TOTALS: DayTotals = { events: 0, cost_nanos: 0n, gpu_seconds: 0n, gpu_cost_nanos: 0n };

/** An organization's stored totals by UTC day, from one day to another inclusive. Days without usage are left out. */
export const readDayTotals = async (
  { totals, gpuEvents }: TotalsDependencies,
  organization: string,
  from: string,
  to: string,
): Promise<Map<string, DayTotals>> => {
  const days = new Map<string, DayTotals>();
  const of = (day: string): DayTotals => {
    const sums = days.get(day) ?? { ...NO_TOTALS };
    days.set(day, sums);
    return sums;
  };
  const range = { fromMs: Date.parse(from), toMs: Date.parse(to) + SPAN_MS.day };
  for await (const row of totals.list({ organization, span: 'day', detail: 'model', ...range })) {
    const sums = of(dayOf(row.startMs));
    sums.events += row.totals.events;
    sums.cost_nanos += row.totals.cost_nanos;
  }
  for await (const row of gpuEvents.listDays(organization, from, to)) {
    const sums = of(row.day);
    sums.gpu_seconds += row.instanceSeconds;
    sums.gpu_cost_nanos += row.costNanos;
  }
  return days;
};

/** True if a day's events add up to its totals. */
export const isSame = (day: DayTotals, totals: DayTotals = NO_TOTALS): boolean =>
  day.events === totals.events &&
  day.cost_nanos === totals.cost_nanos &&
  day.gpu_seconds === totals.gpu_seconds &&
  day.gpu_cost_nanos === totals.gpu_cost_nanos;

const MAX_LOGGED_DAYS = 31;

/** Logs the days whose events don't add up to their stored totals. The invoice is right, because it counts events. */
export const reportDifferences = (
  of: { organization: string; month: string },
  counted: ReadonlyMap<string, BilledDay>,
  totals: ReadonlyMap<string, DayTotals>,
): void => {
  const differing = [...counted].filter(([day, read]) => !isSame(read, totals.get(day)));
  if (differing.length === 0) return;
  const days = differing
    .slice(0, MAX_LOGGED_DAYS)
    .map(([day, { sha256: _, ...events }]) => ({ day, events, totals: totals.get(day) ?? NO_TOTALS }));
  logError('totals_differ', 'The totals of some days differ from their events.', { ...of, count: differing.length, days });
};
