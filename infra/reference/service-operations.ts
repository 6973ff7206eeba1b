import * as z from 'zod';
import type { Body, Operation } from '../../shared/hosts/operation.ts';
import { servicePaths } from '../../shared/hosts/service-routes.ts';

const Version = z.object({
  version: z.string().meta({ description: 'The release that is deployed.' }),
  commit: z.string(),
  api_version: z.string().meta({ description: 'The version of this interface.' }),
});

const service = { method: 'GET', tag: 'Service', access: 'public' } as const;

/** The routes by which a host describes itself. @param health what its health route replies */
export const serviceOperations = (health: Body): Operation<'Service'>[] => [
  {
    ...service,
    path: servicePaths.health,
    operationId: 'retrieveHealth',
    summary: 'Whether the host can serve',
    reply: { status: 200, description: 'What every request needs answers.', json: health },
    errors: [503],
  },
  {
    ...service,
    path: servicePaths.version,
    operationId: 'retrieveVersion',
    summary: 'What is deployed',
    reply: {
      status: 200,
      description: 'The versions of the deployment and of this interface.',
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
    summary: 'This document',
    reply: {
      status: 200,
      description: 'The interface of this host as OpenAPI 3.1.',
      json: { name: 'OpenApiDocument', schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }) },
      headers: ['etag', 'cache-control'],
    },
    errors: [],
  },
  {
    ...service,
    path: servicePaths.reference,
    operationId: 'retrieveReference',
    summary: 'The API reference as a page',
    reply: { status: 200, description: 'A page that shows this document.', html: true, headers: ['etag'] },
    errors: [],
  },
];
