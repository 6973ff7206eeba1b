import * as z from 'zod';
import type { Operation } from './operation.ts';

const Version = z.object({
  version: z.string().meta({ description: 'The release that is deployed.' }),
  commit: z.string(),
  api_version: z.string().meta({ description: 'The version of this interface.' }),
});

/** What every host answers about itself. */
export const serviceOperations: Operation[] = [
  {
    method: 'get',
    path: '/version',
    operationId: 'retrieveVersion',
    tag: 'Service',
    summary: 'What is deployed',
    isPublic: true,
    success: {
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
    method: 'get',
    path: '/openapi.json',
    operationId: 'retrieveOpenApiDocument',
    tag: 'Service',
    summary: 'This document',
    isPublic: true,
    success: {
      description: 'The interface of this host as OpenAPI 3.1.',
      json: { name: 'OpenApiDocument', schema: z.looseObject({ openapi: z.string(), paths: z.looseObject({}) }) },
      headers: ['etag', 'cache-control'],
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/docs',
    operationId: 'retrieveReference',
    tag: 'Service',
    summary: 'The API reference as a page',
    isPublic: true,
    success: { description: 'A page that shows this document.', html: true, headers: ['etag'] },
    errors: [],
  },
];
