import { createRoute } from '../access/route.ts';
import { lookup } from './lookup.ts';
import type { LookupDependencies } from './lookup-dependencies.ts';
import { Lookup, LookupQuery } from './lookup-resource.ts';

const route = createRoute<LookupDependencies>('Overview');

export const lookupRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/lookup',
      operationId: 'lookup',
      summary: 'Find a resource',
      description:
        'Finds what an id, an email address, a hint or a name means, among the resources that you can see. Each needs the permission of its own routes; what belongs to another organization is not found. Ids of replies, such as `chatcmpl-…`, find their request. For users of the platform, keys are found by id only.',
      access: 'account:read',
      limits: ['searches'],
      query: LookupQuery,
      reply: { status: 200, description: 'At most 20 matches.', json: { name: 'Lookup', schema: Lookup } },
      errors: [400, 503],
    },
    ({ deps, actor, query }) => lookup(deps, actor, query.q),
  ),
];
