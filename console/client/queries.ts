import { QueryClient, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ApiFailure } from './api-failure.ts';
import { isTransient, request } from './request.ts';
import type { CallOptions, ReplyBody, RouteName } from './routes.ts';

const FRESH_MS = 30_000;
const MAX_RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      retry: (failures, error) => failures < MAX_RETRIES && isTransient(error),
    },
  },
});

type ReadRoute = Extract<RouteName, `GET ${string}`>;

interface Refetching {
  /** Not below 5,000, and never while the page is hidden. Default: only when it is shown again. */
  refetchMs?: number | undefined;
  /** False: not read yet, for example because a filter is incomplete. */
  enabled?: boolean;
}

interface RefetchingByReply<Reply> extends Omit<Refetching, 'refetchMs'> {
  /** The same, or what the last reply says. */
  refetchMs?: number | undefined | ((reply: Reply | undefined) => number);
}

/** Reads a route. All readers of the same route and options share one request. */
export const useRead = <Name extends ReadRoute>(
  name: Name,
  options: CallOptions<Name>,
  { refetchMs, enabled = true }: RefetchingByReply<ReplyBody<Name>> = {},
): UseQueryResult<ReplyBody<Name>, ApiFailure> =>
  useQuery<ReplyBody<Name>, ApiFailure>({
    queryKey: [name, options],
    queryFn: ({ signal }) => request(name, { ...options, signal }),
    refetchInterval: typeof refetchMs === 'function' ? ({ state }) => refetchMs(state.data) : (refetchMs ?? false),
    enabled,
  });

interface PageEnd {
  has_more?: boolean;
  next?: string | null;
  next_page?: string | null;
}

// Usage and costs are continued with `page`, as OpenAI's API does it; all other lists with `after`.
const nextOf = (reply: unknown): Record<string, string> | undefined => {
  const { has_more, next, next_page } = reply as PageEnd;
  if (!has_more) return undefined;
  return next ? { after: next } : next_page ? { page: next_page } : undefined;
};

/** Reads the pages of a list. */
export const useList = <Name extends ReadRoute>(name: Name, options: CallOptions<Name>, { refetchMs, enabled = true }: Refetching = {}) =>
  useInfiniteQuery<ReplyBody<Name>, ApiFailure, ReplyBody<Name>[], unknown[], Record<string, string> | undefined>({
    // Not the key of a single reading with the same options: the cache has pages here, and a reply there.
    queryKey: [name, options, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      request(name, {
        ...options,
        query: { ...(options.query as object | undefined), ...pageParam },
        signal,
      } as CallOptions<Name>),
    initialPageParam: undefined,
    getNextPageParam: nextOf,
    select: ({ pages }) => pages,
    refetchInterval: refetchMs ?? false,
    enabled,
  });

/** Reads routes again, such as after a change: all whose path begins with one of these. */
export const readAgain = async (...paths: readonly string[]): Promise<void> => {
  const named = ({ queryKey: [name] }: { queryKey: readonly unknown[] }): boolean =>
    typeof name === 'string' && paths.some((path) => name.startsWith(`GET ${path}`));
  // A first reading that has not ended can have begun before the change, and would not be repeated.
  await queryClient.cancelQueries({ predicate: named });
  await queryClient.invalidateQueries({ predicate: named });
};
