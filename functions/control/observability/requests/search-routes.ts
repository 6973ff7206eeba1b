import { createRoute } from '../../access/route.ts';
import { ExportQuery, exportRequests } from './export-requests.ts';
import { listRequests, RequestList, RequestsQuery } from './list-requests.ts';
import type { SearchDependencies } from './search-requests.ts';

const route = createRoute<SearchDependencies>('Observability');

export const requestSearchRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/observability/requests',
      operationId: 'listRequests',
      summary: 'Search requests',
      description:
        'Returns the requests of the last 30 days that match all filters, newest first, about a minute after they ended. A page can have fewer requests than `limit`, or none: continue while `has_more` is true, or choose a shorter time range. Members see only requests with the API keys that they created.',
      access: 'requests:read',
      limits: ['searches'],
      query: RequestsQuery,
      reply: { status: 200, description: 'A page of requests, newest first.', json: { name: 'RequestList', schema: RequestList } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listRequests(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/observability/requests/export',
      operationId: 'exportRequests',
      summary: 'Export requests',
      description:
        'Returns what a search finds as CSV or JSON Lines, newest first: up to 10,000 requests at a time. If there are more, the `link` header has the URL of the next part. A part can be empty although there are more.',
      access: 'requests:read',
      limits: ['searches'],
      query: ExportQuery,
      reply: { status: 200, description: 'A part of the requests.', text: ['text/csv', 'application/jsonl'], headers: ['link'] },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query, event }) => exportRequests(deps, actor, query, event),
  ),
];
