import { HOUR_MS } from '../../../shared/time/units.ts';
import { dayOf } from '../../../shared/time/utc.ts';
import type { GpuEventStore } from '../../../shared/usage/gpu-event-store.ts';
import type { OrganizationTotals, TotalsQuery } from '../../../shared/usage/organization-totals.ts';
import { METERS, type UsageMeter } from './meter-export.ts';

/** The amount of each meter. */
export type MeteredUsage = Record<UsageMeter, bigint>;

export const noUsage = (): MeteredUsage => Object.fromEntries(METERS.map((meter) => [meter, 0n])) as MeteredUsage;

export interface MeteredUsageStores {
  totals: { list: (query: TotalsQuery) => AsyncIterable<OrganizationTotals> };
  gpuEvents: Pick<GpuEventStore, 'listDays' | 'listByDeployment'>;
}

const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

/**
 * The usage of an organization in the hours that start in [fromMs, toMs), by the start of the hour. GPU time counts in
 * the hour in which its interval began.
 */
export const usageByHour = async (
  { totals, gpuEvents }: MeteredUsageStores,
  organization: string,
  fromMs: number,
  toMs: number,
): Promise<Map<number, MeteredUsage>> => {
  const hours = new Map<number, MeteredUsage>();
  for (let hour = fromMs; hour < toMs; hour += HOUR_MS) hours.set(hour, noUsage());
  const query = { organization, span: 'hour', detail: 'model', fromMs, toMs } as const;
  for await (const { startMs, totals: sums } of totals.list(query)) {
    const usage = hours.get(startMs);
    if (!usage) continue;
    usage.prompt_tokens += sums.prompt_tokens - sums.cached_tokens;
    usage.cached_prompt_tokens += sums.cached_tokens;
    usage.completion_tokens += sums.completion_tokens;
    usage.requests += BigInt(sums.requests);
    usage.cost_nanos += sums.cost_nanos - sums.prepaid_nanos;
  }
  const [firstDay, lastDay] = [dayOf(fromMs), dayOf(toMs - 1)];
  const deployments = new Set<string>();
  for await (const { deploymentId } of gpuEvents.listDays(organization, firstDay, lastDay)) deployments.add(deploymentId);
  for (const deployment of deployments)
    for await (const { started_at, seconds, instances, cost_nanos, is_prepaid } of gpuEvents.listByDeployment(
      deployment,
      firstDay,
      lastDay,
    )) {
      const usage = hours.get(hourOf(started_at));
      if (!usage) continue;
      usage.gpu_seconds += BigInt(seconds) * BigInt(instances);
      if (!is_prepaid) usage.cost_nanos += cost_nanos;
    }
  return hours;
};
