import { createRoute } from '../../access/route.ts';
import { type MetricsDependencies, metrics } from './metrics.ts';
import { MetricsQuery } from './metrics-query.ts';
import { Metrics } from './metrics-resource.ts';

const route = createRoute<MetricsDependencies>('Observability');

export const metricsRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/observability/metrics',
      operationId: 'retrieveMetrics',
      summary: 'Retrieve metrics',
      description:
        'Requests, errors, tokens, latencies and refused requests over time. Owners see their organization, members the API keys that they created, admins all organizations. Requests count when they have ended, in the time in which they arrived; the last minute or two can be missing.',
      access: 'requests:read',
      limits: ['searches'],
      query: MetricsQuery,
      reply: { status: 200, description: 'The metrics of the window.', json: { name: 'Metrics', schema: Metrics } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => metrics(deps, actor, query),
  ),
];
