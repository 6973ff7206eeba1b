import type { Detail, TotalsSpan } from '../../../shared/usage/organization-totals.ts';
import type { OrganizationTotalsStore } from '../../../shared/usage/organization-totals-store.ts';
import type { Actor } from '../access/actor.ts';
import { detailOf, type Filters, type UsageRecord, usageOf } from '../query/group-usage.ts';
import { type ScopeDependencies, scopeOf } from '../query/scope.ts';
import { rangeOf, segmentsOf, type TimeRange, type Width } from '../query/time-buckets.ts';
import {
  boundOf,
  type CompletionsQuery,
  type CostsQuery,
  dimensionsOf,
  filtersOf,
  limitOf,
  type PageLimits,
} from '../query/usage-query.ts';
import { readBuckets, type UsageBucket } from './read-buckets.ts';

export interface UsageDependencies extends ScopeDependencies {
  organizationTotals: Pick<OrganizationTotalsStore, 'list'>;
}

interface UsageReading {
  /** Cursors of one route are valid for no other one. */
  name: string;
  limits: PageLimits;
  /** The spans of the totals to read, widest first. Default: all that buckets of this width can need. */
  spans?: readonly TotalsSpan[];
  /** Usage of an organization that is not in its totals, in the order of time. */
  others?: (organization: string, range: TimeRange, filters: Filters) => AsyncGenerator<UsageRecord>[];
}

async function* totalsIn(
  { organizationTotals }: UsageDependencies,
  { organization, width, detail }: { organization: string; width: Width; detail: Detail },
  range: TimeRange,
): AsyncGenerator<UsageRecord> {
  for (const segment of segmentsOf(range, width))
    for await (const totals of organizationTotals.list({ organization, detail, ...segment })) yield usageOf(totals);
}

/** Reads a page of the usage that an actor can see, by buckets of time. @throws 400, 404 */
export const readUsage = async (
  deps: UsageDependencies,
  actor: Actor,
  query: CompletionsQuery | CostsQuery,
  { name, limits, spans, others = () => [] }: UsageReading,
): Promise<{ buckets: UsageBucket[]; next: string | null }> => {
  const { bucket_width: width } = query;
  const range = rangeOf(query, actor.origin.nowMs, spans);
  const limit = limitOf(query, limits);
  const scope = await scopeOf(deps, actor, query.organization);
  const filters = filtersOf(query, scope);
  const groupBy = dimensionsOf(query.group_by);
  const detail = detailOf(groupBy, filters);
  return readBuckets(deps, {
    scope,
    range,
    width,
    limit,
    page: query.page,
    bound: boundOf(name, query, actor),
    filters,
    groupBy,
    read: (organization, part) => [totalsIn(deps, { organization, width, detail }, part), ...others(organization, part, filters)],
  });
};
