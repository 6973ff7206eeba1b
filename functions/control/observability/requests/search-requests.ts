import * as z from 'zod';
import { InvalidValue } from '../../../../shared/http/errors.ts';
import { requestTimeMs } from '../../../../shared/ids/request-id.ts';
import { RETENTION_DAYS } from '../../../../shared/observability/request-partitions.ts';
import type { RequestRow } from '../../../../shared/observability/request-row.ts';
import type { RequestRowStore, RowPage } from '../../../../shared/observability/request-row-store.ts';
import { MAX_CLOCK_DIFFERENCE_MS } from '../../../../shared/time/clock-difference.ts';
import { DAY_MS, SECOND_MS } from '../../../../shared/time/units.ts';
import { type Actor, organizationFor } from '../../access/actor.ts';
import { type CursorBinding, cursorOf, positionOf } from '../../query/page-cursor.ts';
import { type ScopeDependencies, scopeOf } from '../../query/scope.ts';
import { isAboutFailures, matcherOf, type RequestFilters } from './request-filters.ts';

export interface SearchDependencies extends ScopeDependencies {
  requestRows: Pick<RequestRowStore, 'get' | 'page'>;
}

const Position = z.strictObject({ before: z.string().regex(/^req_[0-9A-Za-z]{7,25}$/) });

/** The bounds of a page's work. */
export interface PageBounds {
  limit: number;
  maxRead: number;
  after: string | undefined;
}

const rangeOf = ({ start_time, end_time }: RequestFilters, nowMs: number): { fromMs: number; toMs: number } => {
  if (start_time !== undefined && end_time !== undefined && end_time <= start_time)
    throw new InvalidValue('end_time', "expected a time after 'start_time'");
  return {
    fromMs: Math.max((start_time ?? 0) * SECOND_MS, nowMs - RETENTION_DAYS * DAY_MS),
    // Requests are named by the clocks of other functions.
    toMs: Math.min((end_time ?? Number.POSITIVE_INFINITY) * SECOND_MS, nowMs + MAX_CLOCK_DIFFERENCE_MS),
  };
};

const findOne = async (
  { requestRows }: SearchDependencies,
  organization: string,
  id: string,
  { fromMs, toMs, matches }: { fromMs: number; toMs: number; matches: (row: RequestRow) => boolean },
): Promise<RowPage> => {
  const row = await requestRows.get(organization, id);
  const atMs = row ? requestTimeMs(row.request_id) : Number.NaN;
  return { rows: row && atMs >= fromMs && atMs < toMs && matches(row) ? [row] : [], next: undefined, searchedToMs: fromMs };
};

/**
 * Searches the requests of an organization that an actor can see, newest first. Members see those of their own keys.
 * The work per page is bounded, so it can have fewer requests than asked for, or none, although there are more.
 * @param name the route's: its cursors are valid for no other one
 * @returns the rows, a cursor for the next page if there is one, and a function that makes the cursor of any position
 * @throws 400, 404
 */
export const searchRequests = async (
  deps: SearchDependencies,
  { actor, name }: { actor: Actor; name: string },
  filters: RequestFilters,
  { limit, maxRead, after }: PageBounds,
): Promise<RowPage & { cursorAt: (before: string) => string }> => {
  const range = rangeOf(filters, actor.origin.nowMs);
  const organization = organizationFor(actor, filters.organization);
  const { ownKeys } = await scopeOf(deps, actor, organization);
  const bound: CursorBinding = { ...filters, route: name, organization, user: actor.userId };
  const cursorAt = (before: string): string => cursorOf(bound, { before });
  const before = after === undefined ? undefined : positionOf(after, { bound, position: Position, param: 'after', next: 'next' }).before;
  const matches = matcherOf(filters, ownKeys);
  const page =
    filters.id === undefined
      ? await deps.requestRows.page({ organization, ...range, isFailed: isAboutFailures(filters), matches, limit, maxRead, before })
      : await findOne(deps, organization, filters.id, { ...range, matches });
  return { ...page, cursorAt };
};
