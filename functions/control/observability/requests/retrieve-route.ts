import { createRoute } from '../../access/route.ts';
import type { CurrencyReads } from '../../billing/currency.ts';
import { RequestDetail } from './request-detail.ts';
import { RequestDetailQuery, type RetrieveDependencies, retrieveRequest } from './retrieve-request.ts';

const route = createRoute<RetrieveDependencies & CurrencyReads>('Observability');

export const retrieveRequestRoute = route(
  {
    method: 'GET',
    path: '/v1/observability/requests/{id}',
    operationId: 'retrieveRequest',
    summary: 'Retrieve a request',
    description:
      'Shows the phases of a request as a timeline, its target, limits, usage and cost by price version. It is found for 30 days, from about a minute after its end; with `api_key_id` at once and for good. Members see requests of the API keys that they created. The content of requests is not stored here.',
    access: 'requests:read',
    parameters: { id: { description: 'The `x-request-id` of the request.', example: 'req_1lNcTUSq3vTzyiBxiH50nXkCb' } },
    query: RequestDetailQuery,
    reply: {
      status: 200,
      description: 'The request, as JSON or as text.',
      json: { name: 'Request', schema: RequestDetail },
      text: ['text/plain'],
    },
    errors: [400, 404, 503],
  },
  ({ deps, actor, parameters, query }) => retrieveRequest(deps, actor, parameters.id as string, query),
);
