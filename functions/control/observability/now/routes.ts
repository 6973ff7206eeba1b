import * as z from 'zod';
import { createRoute } from '../../access/route.ts';
import { OrganizationId } from '../../organizations/organization.ts';
import { type NowDependencies, now } from './now.ts';
import { Now } from './now-resource.ts';

const route = createRoute<NowDependencies>('Observability');

const NowQuery = z.strictObject({
  organization: OrganizationId.optional().meta({
    description: 'The organization whose requests to return. Defaults to your own; for admins, to the newest 100 organizations together.',
  }),
});

export const nowRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/observability/now',
      operationId: 'retrieveNow',
      summary: 'Retrieve the live minute',
      description:
        'What is going on right now: the newest minute with usage, by model and API key. Totals are up to about a minute late. Owners see their organization, members the API keys that they created, admins all organizations. To follow it, repeat the request after `refresh_seconds`.',
      access: 'requests:read',
      limits: ['searches'],
      query: NowQuery,
      reply: { status: 200, description: 'The newest minute with usage.', json: { name: 'Now', schema: Now } },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => now(deps, actor, query.organization),
  ),
];
