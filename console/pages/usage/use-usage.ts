import { useEffect, useMemo } from 'react';
import { useList } from '../../client/queries.ts';
import type { UsageBucket } from './tabulate.ts';
import type { Grouping, Measure } from './usage-query.ts';

const MAX_PAGES = 12;
const COST_DAYS = '180';
const USAGE_DAYS = '31';

interface UsageQuestion {
  measure: Measure;
  groupBy: Grouping;
  times: { start_time: string; end_time?: string };
  organization: string;
  /** Only usage of this project; empty: all. */
  project: string;
}

/** Reads the days of a range, page after page, at most twelve. Costs include GPU time, which has no tokens. */
export const useUsage = ({ measure, groupBy, times, organization, project }: UsageQuestion) => {
  const common = { ...times, organization, group_by: [groupBy], ...(project !== '' && { project_ids: [project] }) };
  const isCost = measure === 'cost';
  const costs = useList('GET /v1/organization/costs', { query: { ...common, limit: COST_DAYS } }, { enabled: isCost });
  const usage = useList('GET /v1/organization/usage/completions', { query: { ...common, limit: USAGE_DAYS } }, { enabled: !isCost });
  const query = isCost ? costs : usage;
  const [ofCosts, ofUsage] = [costs.data, usage.data];
  // One after the other: the two replies have buckets of their own types.
  const buckets = useMemo(
    (): readonly UsageBucket[] => (isCost ? ofCosts?.flatMap(({ data }) => data) : ofUsage?.flatMap(({ data }) => data)) ?? [],
    [isCost, ofCosts, ofUsage],
  );
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const canGoOn = hasNextPage && !isFetching && !isError && (data?.length ?? 0) < MAX_PAGES;
  useEffect(() => {
    if (canGoOn) void fetchNextPage();
  }, [canGoOn, fetchNextPage]);
  return { query, buckets, isComplete: !hasNextPage, isCut: hasNextPage && !canGoOn && !isFetching };
};
