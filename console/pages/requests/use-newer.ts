import { useQuery } from '@tanstack/react-query';
import type { ApiFailure } from '../../client/api-failure.ts';
import { queryClient } from '../../client/queries.ts';
import { request } from '../../client/request.ts';
import type { Query, ReplyBody } from '../../client/routes.ts';
import { mergeNewer } from './merge-newer.ts';

type Search = NonNullable<Query<'GET /v1/observability/requests'>>;
type Row = ReplyBody<'GET /v1/observability/requests'>['data'][number];

const POLL_MS = 5_000;
// A request is found about a minute after it ended, and not in the order of arrival.
const OVERLAP_S = 300;
const READ_AT_ONCE = 100;
const MAX_KEPT = 500;

export interface Newer {
  rows: readonly Row[];
  /** More requests arrive than are read. */
  isBehind: boolean;
}

/** Requests of a search that arrived since the screen was opened, read every five seconds while it is visible. */
export const useNewer = (search: Search, isOn: boolean) => {
  const queryKey = ['GET /v1/observability/requests', 'newer', search];
  return useQuery<Newer, ApiFailure>({
    queryKey,
    queryFn: async ({ signal }) => {
      const start_time = String(Math.max(Number(search.start_time ?? 0), Math.floor(Date.now() / 1_000) - OVERLAP_S));
      const page = await request('GET /v1/observability/requests', { query: { ...search, start_time, limit: READ_AT_ONCE }, signal });
      const shown = queryClient.getQueryData<Newer>(queryKey)?.rows ?? [];
      return { rows: mergeNewer(shown, page.data, MAX_KEPT), isBehind: page.has_more };
    },
    refetchInterval: POLL_MS,
    enabled: isOn,
  });
};
