import * as z from 'zod';
import type { Body, Operation } from '../../../shared/hosts/operation.ts';
import { servicePaths } from '../../../shared/hosts/service-routes.ts';

const Version = z.object({
  version: z.string().meta({ description: 'The deployed release.' }),
  commit: z.string(),
  api_version: z.string().meta({ description: 'The version of this API.' }),
});

const service = { method: 'GET', tag: 'Service', access: 'public' } as const;

/** The routes that describe a host. @param health the body of its health route */
export const serviceOperations = (health: Body): Operation<'Service'>[] => [
  {
    ...service,
    path: servicePaths.health,
    operationId: 'retrieveHealth',
    summary: 'Check the health of the host',
    reply: { status: 200, description: 'The services that every request needs are available.', json: health },
    errors: [503],
  },
  {
    ...service,
    path: servicePaths.version,
    operationId: 'retrieveVersion',
    summary: 'Retrieve the version',
    reply: {
      status: 200,
      description: 'The versions of the deployment and of this API.',
      json: {
        name: 'Version',
        schema: Version,
        examples: { version: { summary: 'A release', value: { version: '0.1.0', commit: '330127e', api_version: '1.0.0' } } },
      },
    },
    errors: [],
  },
  {
    ...service,
    path: servicePaths.document,
    operationId: 'retrieveOpenApiDocument',
    summary: 'Retrieve this document',
    reply: {
      status: 200,
      description: 'The API of this host as an OpenAPI 3.1 document.',
      json: { name: 'OpenApiDocument', schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }) },
      headers: ['etag', 'cache-control'],
    },
    errors: [],
  },
  {
    ...service,
    path: servicePaths.reference,
    operationId: 'retrieveReference',
    summary: 'Read the API reference',
    reply: { status: 200, description: 'A web page that shows this document.', html: true, headers: ['etag'] },
    errors: [],
  },
];
