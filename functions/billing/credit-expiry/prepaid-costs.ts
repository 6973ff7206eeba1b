import { DAY_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { OrganizationTotals, TotalsQuery } from '../../../shared/usage/organization-totals.ts';
import { loadDay } from '../close/day-file.ts';
import { type ReadDependencies, readDays } from '../close/read-days.ts';

export interface PrepaidCostDependencies extends ReadDependencies {
  totals: { list: (query: TotalsQuery) => AsyncIterable<OrganizationTotals> };
  now: () => number;
}

// Totals can be late, so the events of the last days are counted.
const COUNTED_DAYS = 2;
const TOTALS_LATE_MS = DAY_MS;

// The totals of earlier days may be wrong, too. They are late, or an operator must rebuild them.
class TotalsIncomplete extends Error {
  constructor(organization: string, day: string) {
    super(`The totals of ${day} of ${organization} differ from its events, so what is left of its credit is not known.`);
  }
}

type Costs = Map<string, bigint>;
const adding = (costs: Costs, day: string, nanos: bigint): void => void costs.set(day, (costs.get(day) ?? 0n) + nanos);

const costsByTotals = async (
  { totals, gpuEvents }: PrepaidCostDependencies,
  organization: string,
  fromMs: number,
  toMs: number,
): Promise<Costs> => {
  const costs: Costs = new Map();
  const query = { organization, span: 'day', detail: 'model', fromMs, toMs } as const;
  for await (const { startMs, totals: sums } of totals.list(query)) adding(costs, dayOf(startMs), sums.prepaid_nanos);
  for await (const { day, prepaidNanos } of gpuEvents.listDays(organization, dayOf(fromMs), dayOf(toMs - DAY_MS)))
    adding(costs, day, prepaidNanos);
  return costs;
};

/**
 * An organization's costs paid from credit, for requests and deployments, in nano-dollars by UTC day, for the days in
 * [fromMs, toMs).
 * @param reader the id under which the days counted from events are stored
 * @throws OutOfTime (days that were read stay stored); TotalsIncomplete
 */
export const prepaidCostsByDay = async (
  deps: PrepaidCostDependencies,
  organization: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  reader: string,
): Promise<Costs> => {
  const costs = await costsByTotals(deps, organization, fromMs, toMs);
  const days = Array.from({ length: COUNTED_DAYS }, (_, i) => toMs - (COUNTED_DAYS - i) * DAY_MS)
    .filter((ms) => ms >= fromMs)
    .map(dayOf);
  const read = await readDays(deps, { organization, reader, days });
  for (const day of days) {
    const groups = (await loadDay(deps.files, organization, day, read.get(day) ?? { sha256: null }))?.groups ?? [];
    const nanos = groups.reduce((sum, { prepaid_nanos }) => sum + prepaid_nanos, 0n);
    const isComplete = deps.now() >= Date.parse(day) + DAY_MS + TOTALS_LATE_MS;
    if (isComplete && nanos !== (costs.get(day) ?? 0n)) throw new TotalsIncomplete(organization, day);
    costs.set(day, nanos);
  }
  return costs;
};
