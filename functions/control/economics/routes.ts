import { createRoute } from '../access/route.ts';
import { EconomicsQuery } from './economics-query.ts';
import { EconomicsList } from './economics-resource.ts';
import { exportEconomics, listEconomics } from './list-economics.ts';
import type { EconomicsDependencies } from './read-economics.ts';

const route = createRoute<EconomicsDependencies>('Usage');

export const economicsRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/economics',
      operationId: 'listEconomics',
      summary: 'List what deployments cost and earn',
      description:
        'For whole UTC days: instance-seconds, their cost, tokens, revenue, utilization, cost per million tokens and the break-even rate. Organizations see their own deployments and requests, with the charged GPU time as the cost; the platform sees all of them with its own cost, and requests that no deployment served. A page has all rows of its organizations. With `format=csv`, the `link` header has the URL of the next page.',
      access: 'billing:read',
      limits: ['searches'],
      query: EconomicsQuery,
      reply: {
        status: 200,
        description: 'A page of rows, by organization.',
        json: { name: 'EconomicsList', schema: EconomicsList },
        text: ['text/csv'],
        headers: ['link'],
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query, event }) =>
      query.format === 'csv' ? exportEconomics(deps, actor, query, event) : listEconomics(deps, actor, query),
  ),
];
