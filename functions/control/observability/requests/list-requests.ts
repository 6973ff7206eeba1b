import * as z from 'zod';
import { pageOf, pageQuery } from '../../../../shared/http/page.ts';
import { SECOND_MS } from '../../../../shared/time/units.ts';
import type { Actor } from '../../access/actor.ts';
import { requestFilters } from './request-filters.ts';
import { RequestRecord, requestRecord } from './request-record.ts';
import { type SearchDependencies, searchRequests } from './search-requests.ts';

/** The most items that are read for a page. */
export const MAX_READ = 2_000;

export const RequestsQuery = z.strictObject({
  ...requestFilters,
  limit: pageQuery.limit,
  after: z.string().optional().meta({ description: 'The `next` of the previous page. Returns the requests after it.' }),
});
export type RequestsQuery = z.output<typeof RequestsQuery>;

export const RequestList = pageOf(RequestRecord).extend({
  searched_until: z.int().meta({
    description: 'How far the search has come: later requests that match are on this page, or on one before it. Unix time in seconds.',
  }),
});
export type RequestList = z.infer<typeof RequestList>;

/** Returns a page of a search for requests. @throws 400, 404 */
export const listRequests = async (deps: SearchDependencies, actor: Actor, query: RequestsQuery): Promise<RequestList> => {
  const { limit, after, ...filters } = query;
  const bounds = { limit, after, maxRead: MAX_READ };
  const { rows, next, searchedToMs, cursorAt } = await searchRequests(deps, { actor, name: 'requests' }, filters, bounds);
  return {
    object: 'list',
    data: rows.map(requestRecord),
    has_more: next !== undefined,
    next: next === undefined ? null : cursorAt(next),
    searched_until: Math.ceil(searchedToMs / SECOND_MS),
  };
};
