import * as z from 'zod';
import { GpuTimeEventRecord, UsageEventRecord } from '../../../../shared/billing/event-records.ts';
import { pageOf } from '../../../../shared/http/page.ts';
import { createRoute } from '../../access/route.ts';
import { type EventDependencies, EventsQuery, listEvents } from './list-events.ts';

const route = createRoute<EventDependencies>('Billing');

export const billingEventRoutes = [
  route(
    {
      method: 'GET',
      path: '/v1/billing/events',
      operationId: 'listBillingEvents',
      summary: 'List usage events',
      description:
        'Returns the billed record of each request, and of GPU time, oldest first. A page can have fewer events than `limit`, or none: continue while `has_more` is true. Events of the last 20 minutes can still appear. For more than 31 days, or for millions of events, create an export with `POST /v1/billing/exports`.',
      access: 'billing:read',
      limits: ['searches'],
      query: EventsQuery,
      reply: {
        status: 200,
        description: 'A page of events, oldest first.',
        json: { name: 'BillingEventList', schema: pageOf(z.discriminatedUnion('object', [UsageEventRecord, GpuTimeEventRecord])) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, actor, query }) => listEvents(deps, actor, query),
  ),
];
