import * as z from 'zod';
import { idempotencyKeyOf } from '../../../../shared/http/idempotency-key.ts';
import { pageOf, pageQueryOf } from '../../../../shared/http/page.ts';
import { createRoute } from '../../access/route.ts';
import { NewRerate, RerateOfOrganization, RerateResource } from './rerate-resource.ts';
import {
  createRerate,
  executeRerate,
  listRerateOrganizations,
  listRerates,
  type RerateRouteDependencies,
  retrieveRerate,
} from './rerates.ts';

const route = createRoute<RerateRouteDependencies>('Billing');
const rerates = '/v1/billing/rerates';
const oneRerate = `${rerates}/{id}`;
const parameters = { id: { description: 'The id of a rerate.', example: 'rr_VbdBUPc4RtYvB8fK2m' } } as const;
const rerate = { name: 'Rerate', schema: RerateResource };

export const rerateRoutes = [
  route(
    {
      method: 'POST',
      path: rerates,
      operationId: 'createRerate',
      summary: 'Correct a wrong price',
      description:
        'Rates past usage by another price version. Usage events stay; each gets an event with the difference, which is billed or credited. With `dry_run`, nothing is changed until you execute the rerate. The work is done in the background.',
      access: 'rerates:write',
      needsFreshLogin: true,
      limits: ['rerates'],
      isIdempotent: true,
      body: {
        name: 'NewRerate',
        schema: NewRerate,
        example: {
          model: 'qwen3-8b',
          from_version: 'price_VbdBUPc4RtYvB8fK2m',
          to_version: 'price_Vc1nJ2yPq0LrT5xA9d',
          start_time: 1_796_083_200,
          end_time: 1_796_428_800,
          reason: 'The completion price was entered ten times too high.',
          dry_run: true,
        },
      },
      reply: { status: 202, description: 'The rerate, which begins soon.', json: rerate },
      errors: [400, 404, 422, 503],
    },
    ({ deps, actor, body, event }) => createRerate(deps, actor, body, idempotencyKeyOf(event)),
  ),
  route(
    {
      method: 'GET',
      path: rerates,
      operationId: 'listRerates',
      summary: 'List rerates',
      access: 'rerates:read',
      limits: ['searches'],
      query: z.strictObject(pageQueryOf('rerate')),
      reply: { status: 200, description: 'A page of rerates, newest first.', json: { name: 'RerateList', schema: pageOf(RerateResource) } },
      errors: [400, 503],
    },
    ({ deps, query }) => listRerates(deps, query),
  ),
  route(
    {
      method: 'GET',
      path: oneRerate,
      operationId: 'retrieveRerate',
      summary: 'Retrieve a rerate',
      access: 'rerates:read',
      parameters,
      reply: { status: 200, description: 'The rerate, with its progress and what it changes.', json: rerate },
      errors: [404, 503],
    },
    ({ deps, parameters: { id = '' } }) => retrieveRerate(deps, id),
  ),
  route(
    {
      method: 'GET',
      path: `${oneRerate}/organizations`,
      operationId: 'listRerateOrganizations',
      summary: 'List what a rerate changes by organization and month',
      access: 'rerates:read',
      parameters,
      query: z.strictObject(pageQueryOf('organization')),
      reply: {
        status: 200,
        description: 'A page of organizations, by id: of the execution or, before it, of the preview.',
        json: { name: 'RerateOrganizationList', schema: pageOf(RerateOfOrganization) },
      },
      errors: [400, 404, 503],
    },
    ({ deps, parameters: { id = '' }, query }) => listRerateOrganizations(deps, id, query),
  ),
  route(
    {
      method: 'POST',
      path: `${oneRerate}/execute`,
      operationId: 'executeRerate',
      summary: 'Execute a rerate that was previewed',
      description: 'If its execution does not make progress, a repeated request continues it. No event is rated again twice.',
      access: 'rerates:write',
      needsFreshLogin: true,
      limits: ['rerates'],
      parameters,
      reply: { status: 202, description: 'The rerate, which begins soon.', json: rerate },
      errors: [404, 409, 412, 503],
    },
    ({ deps, actor, parameters: { id = '' } }) => executeRerate(deps, actor, id),
  ),
];
