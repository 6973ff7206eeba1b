import { dayOf } from '../../../shared/usage/bucket.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotals, TotalsQuery } from '../../../shared/usage/organization-totals.ts';

export interface PrepaidCosts {
  totals: { list: (query: TotalsQuery) => AsyncIterable<OrganizationTotals> };
  gpuEvents: Pick<GpuEventStore, 'listDays'>;
}

const DAY_MS = 86_400_000;

/** What requests and deployments of an organization cost that was paid from credit, in nano-dollars by UTC day, for the days in [fromMs, toMs). */
export const prepaidCostsByDay = async (
  { totals, gpuEvents }: PrepaidCosts,
  organization: string,
  fromMs: number,
  toMs: number,
): Promise<Map<string, bigint>> => {
  const costs = new Map<string, bigint>();
  const add = (day: string, nanos: bigint): void => void costs.set(day, (costs.get(day) ?? 0n) + nanos);
  const query = { organization, span: 'day', detail: 'model', fromMs, toMs } as const;
  for await (const { startMs, totals: sums } of totals.list(query)) add(dayOf(startMs), sums.prepaid_nanos);
  for await (const { day, prepaidNanos } of gpuEvents.listDays(organization, dayOf(fromMs), dayOf(toMs - DAY_MS))) add(day, prepaidNanos);
  return costs;
};
