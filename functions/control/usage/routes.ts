import { createRoute } from '../access/route.ts';
import { CompletionsQuery, CostsQuery } from '../query/usage-query.ts';
import { CompletionsUsage, completionsUsage } from './completions-usage.ts';
import { Costs, type CostsDependencies, costs } from './costs.ts';

const route = createRoute<CostsDependencies>('Usage');

export const usageRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/organization/usage/completions',
      operationId: 'listCompletionsUsage',
      summary: 'List usage by time',
      description:
        "Has the shape of OpenAI's admin API. Owners see their organization, members the API keys that they created, admins all organizations: all buckets for some of them, then on later pages all buckets for the next ones. The last few minutes can be missing. A page can have fewer buckets than `limit`: continue while `has_more` is true.",
      access: 'usage:read',
      limits: ['searches'],
      query: CompletionsQuery,
      reply: { status: 200, description: 'A page of buckets, oldest first.', json: { name: 'CompletionsUsage', schema: CompletionsUsage } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => completionsUsage(deps, actor, query),
  ),
  route(
    {
      method: 'GET',
      path: '/v1/organization/costs',
      operationId: 'listCosts',
      summary: 'List costs by day',
      description:
        "Has the shape of OpenAI's admin API. Buckets are whole UTC days. Includes GPU time, which belongs to no project, API key or end user: members don't see it. Prepaid usage is included; taxes and invoice adjustments are not.",
      access: 'usage:read',
      limits: ['searches'],
      query: CostsQuery,
      reply: { status: 200, description: 'A page of buckets, oldest first.', json: { name: 'Costs', schema: Costs } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => costs(deps, actor, query),
  ),
];
