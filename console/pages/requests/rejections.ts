import type { Query, ReplyBody } from '../../client/routes.ts';
import { type FilterValues, filtersSet, type searchOf } from './filters.ts';

type Metrics = ReplyBody<'GET /v1/observability/metrics'>;

/**
 * The query that counts the rejected requests of a search. Undefined if it has filters for what is not known of them:
 * only their API key is.
 */
export const rejectedQuery = (
  values: FilterValues,
  { start_time, end_time, api_key_id, organization }: ReturnType<typeof searchOf>,
): NonNullable<Query<'GET /v1/observability/metrics'>> | undefined =>
  filtersSet(values).some((name) => name !== 'api_key_id') || start_time === undefined
    ? undefined
    : {
        start_time,
        ...(end_time !== undefined && { end_time }),
        ...(api_key_id && { api_key_ids: [api_key_id] }),
        ...(organization && { organization }),
      };

// An error without a code is counted by its status.
const nameOf = (code: string): string => code.replace(/^http_/, 'status ');

/** Rejected requests with each code of an error, the most frequent first. */
export const rejectionsIn = (metrics: Metrics | undefined): { count: number; codes: { code: string; times: number }[] } => {
  const codes = Object.entries(metrics?.series[0]?.totals.refusals ?? {}).map(([code, times]) => ({ code: nameOf(code), times }));
  codes.sort((one, other) => other.times - one.times);
  return { count: codes.reduce((sum, { times }) => sum + times, 0), codes };
};
