import { createRoute } from '../access/route.ts';
import { summarize } from './summarize.ts';
import type { SummaryDependencies } from './summary-reads.ts';
import { Summary } from './summary-resource.ts';

const route = createRoute<SummaryDependencies>('Overview');

export const summaryRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/summary',
      operationId: 'retrieveSummary',
      summary: 'Retrieve a summary',
      description:
        'What a home page shows, with one call: costs, credit, requests, API keys, deployments, tickets, webhooks, invoices and the steps of a first run. Each section needs the permission of its own routes, and is absent without it. Users of the platform get sections of all organizations.',
      access: 'account:read',
      limits: ['searches'],
      reply: { status: 200, description: 'The sections that you can see.', json: { name: 'Summary', schema: Summary } },
      errors: [503],
    },
    ({ deps, actor }) => summarize(deps, actor),
  ),
];
