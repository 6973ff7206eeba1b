import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as z from 'zod';
import { callLimitOf, limitsOf, textForAll } from '../../../../functions/control/access/call-limits.ts';
import type { ControlOperation } from '../../../../functions/control/access/route.ts';
import { controlDocument } from '../../../../infra/tools/reference/control-document.ts';
import { controlOperations } from '../../../../infra/tools/reference/control-operations.ts';
import { toInlineSchema } from '../../../../infra/tools/reference/json-schema.ts';
import { permissionsOf, ROLES } from '../../../../shared/hosts/permissions.ts';
import { validate } from '../../../../shared/http/validate.ts';
import { type Json, schemasOf } from '../../../support/clients/schemas.ts';

interface DocumentedOperation {
  operationId: string;
  description: string;
  tags: string[];
  security?: unknown[];
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Json }[];
  requestBody?: { content: { 'application/json': { schema: Json; examples: Record<string, { value: unknown }> } } };
  responses: Record<string, { $ref?: string; headers?: Json; content?: Json }>;
}
interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Json>; responses: Record<string, { content: Record<string, { schema: Json; examples: Json }> }> };
}

const documentOf = (routes: readonly ControlOperation[]): Document => JSON.parse(JSON.stringify(controlDocument(routes))) as Document;
const document = documentOf(controlOperations);
const { faults } = schemasOf(document as unknown as Json, { isClosed: true });

const documentedOperation = ({ method, path }: ControlOperation, { paths } = document): DocumentedOperation => {
  const documented = paths[path.replaceAll('+}', '}')]?.[method.toLowerCase()];
  if (!documented) throw new Error(`The document has no ${method} ${path}.`);
  return documented;
};
const named = controlOperations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

test('is a valid OpenAPI 3.1 document', async () => {
  expect(await new Validator().validate(document as unknown as Json)).toEqual({ valid: true });
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'Sluice control plane', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
    servers: [{ url: '.' }],
    security: [{ session: [] }],
    components: { securitySchemes: { session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
  });
});

test('has exactly the control plane routes and the service routes', () => {
  const documented = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
  const served = controlOperations.map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll('+}', '}')}`);
  expect(documented.toSorted()).toEqual([...served, 'get /docs', 'get /health', 'get /openapi.json', 'get /version'].toSorted());
});

test('operations have unique ids and documented tags', () => {
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ids = all.map(({ operationId }) => operationId);
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  expect(new Set(all.flatMap(({ tags }) => tags))).toEqual(new Set(document.tags.map(({ name }) => name)));
});

test('has no broken references and no unused schemas', () => {
  const refs = new Set([...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, ref = '']) => ref));
  const found = (ref: string): unknown => ref.split('/').reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
  expect([...refs].filter((ref) => found(ref) === undefined)).toEqual([]);
  expect(Object.keys(document.components.schemas).filter((name) => !refs.has(`components/schemas/${name}`))).toEqual([]);
});

test('schemas with the same name are the same', () => {
  const schemas = controlOperations.flatMap(({ body, reply: { json } }) => [
    ...(body ? [[body.name, toInlineSchema(body.schema)] as const] : []),
    ...(json ? [[json.name, toInlineSchema(json.schema, 'output')] as const] : []),
  ]);
  for (const [name, schema] of schemas)
    expect({ name, same: schemas.filter((other) => other[0] === name).map(([, documented]) => documented) }).toEqual({
      name,
      same: schemas.filter((other) => other[0] === name).map(() => schema),
    });
});

describe.each(named)('%s', (_, operation) => {
  const { access, body, errorShape, isVersioned, reply, trialReply } = operation;
  const documented = documentedOperation(operation);

  test('says which permission it requires and which errors it can return', () => {
    const isPublic = access === 'public';
    expect(documented.description).toContain(isPublic ? 'Requires no access token.' : `Requires the permission \`${access}\`, which `);
    for (const role of ROLES)
      if (!isPublic && permissionsOf(role).has(access)) expect(documented.description).toMatch(new RegExp(`: .*\\b${role}\\b`));
    expect(documented.security).toEqual(isPublic ? [] : undefined);
    const refused = [
      ...operation.errors,
      400,
      ...(isPublic ? [] : [403, 429]),
      ...(isVersioned ? [412] : []),
      ...(body ? [413] : []),
      401,
      500,
    ];
    const replies = [reply.status, ...(trialReply ? [trialReply.status] : [])];
    expect(Object.keys(documented.responses).map(Number)).toEqual([...new Set([...replies, ...refused])].toSorted((a, b) => a - b));
    const shape = errorShape === undefined ? '' : `${errorShape}-`;
    for (const status of refused) expect(documented.responses[status]).toEqual({ $ref: `#/components/responses/${shape}${status}` });
  });

  test('describes its parameters', () => {
    const parameters = documented.parameters ?? [];
    const namesIn = (place: string): string[] => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);
    expect(parameters.filter(({ description }) => !description)).toEqual([]);
    expect(namesIn('path')).toEqual([...operation.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name));
    expect(namesIn('query')).toEqual(Object.keys(operation.query?.shape ?? {}));
    expect(namesIn('header').includes('If-Match')).toBe(isVersioned === true);
    expect(namesIn('header').includes('Idempotency-Key')).toBe(operation.isIdempotent === true);
  });

  test('has an example that the route accepts and that fits the documented schema', () => {
    const content = documented.requestBody?.content['application/json'];
    expect(content !== undefined).toBe(body !== undefined);
    if (!body || !content) return;
    expect(() => validate(body.schema, body.example)).not.toThrow();
    expect(Object.values(content.examples).map(({ value }) => faults(content.schema, value))).toEqual([[]]);
  });

  test('documents its response', () => {
    const { content, headers } = documented.responses[reply.status] ?? {};
    expect(headers).toHaveProperty('x-request-id');
    const json = reply.json ? [['application/json', { schema: { $ref: `#/components/schemas/${reply.json.name}` } }]] : [];
    const texts = (reply.text ?? []).map((type) => [type, { schema: { type: 'string' } }]);
    const documents = [...json, ...texts];
    expect(content).toEqual(documents.length > 0 ? Object.fromEntries(documents) : undefined);
  });
});

test('every error response has examples that fit its schema', () => {
  for (const [status, { content }] of Object.entries(document.components.responses)) {
    const { schema = {}, examples = {} } = content['application/json'] ?? {};
    const values = Object.values(examples as Record<string, { value: unknown }>).map(({ value }) => value);
    expect(values.length).toBeGreaterThan(0);
    expect({ status, faults: values.flatMap((value) => faults(schema, value)) }).toEqual({ status, faults: [] });
  }
});

describe('a route', () => {
  const Gate = z.object({ name: z.string(), width: z.int().default(3), version: z.int() });
  const operation = {
    method: 'PUT',
    path: '/v1/gates/{gate+}',
    operationId: 'putGate',
    tag: 'Models',
    summary: 'Put a gate',
    description: 'It holds water back.',
    access: 'models:write',
    parameters: { gate: { description: 'Its name.', example: 'north/1' } },
    query: z.strictObject({
      page: z.coerce.number().pipe(z.int().min(1)).default(1),
      river: z.string().meta({ description: 'Which.' }),
      names: z
        .string()
        .transform((names) => names.split(','))
        .optional(),
    }),
    body: { name: 'NewGate', schema: z.strictObject({ width: z.int().default(3) }), example: { width: 4 } },
    reply: { status: 200, description: 'The gate.', json: { name: 'Gate', schema: Gate } },
    isVersioned: true,
    errors: [404],
  } as const satisfies ControlOperation;
  const { components, ...made } = documentOf([operation]);
  const documented = documentedOperation(operation, { ...made, components });

  test('has its multi-segment parameter in OpenAPI notation', () => {
    expect(Object.keys(made.paths)).toContain('/v1/gates/{gate}');
    expect(documented.parameters).toContainEqual({
      in: 'path',
      name: 'gate',
      required: true,
      schema: { type: 'string' },
      description: 'Its name.',
      example: 'north/1',
    });
  });

  test('documents query parameters by their parsed type if it is simple, otherwise as text', () => {
    const [page, river, names] = (documented.parameters ?? []).filter((parameter) => parameter.in === 'query');
    expect(page).toEqual({ in: 'query', name: 'page', required: false, schema: { type: 'integer', minimum: 1, default: 1 } });
    expect(river).toEqual({ in: 'query', name: 'river', required: true, description: 'Which.', schema: { type: 'string' } });
    expect(names).toEqual({ in: 'query', name: 'names', required: false, schema: { type: 'string' } });
  });

  test('makes fields with defaults optional in requests and required in responses', () => {
    expect(components.schemas.NewGate).toMatchObject({ properties: { width: { default: 3 } }, additionalProperties: false });
    expect(components.schemas.NewGate).not.toHaveProperty('required');
    expect(components.schemas.Gate).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, width: { type: 'integer' }, version: { type: 'integer' } },
      required: ['name', 'width', 'version'],
    });
  });

  test('documents an ETag if its response has a version', () => {
    expect(documented.responses[200]?.headers).toHaveProperty('etag', { $ref: '#/components/headers/version-etag' });
    const { version: _, ...shape } = Gate.shape;
    const without = { ...operation, reply: { ...operation.reply, json: { name: 'Gate', schema: z.object(shape) } } };
    expect(documentedOperation(without, documentOf([without])).responses[200]?.headers).not.toHaveProperty('etag');
  });

  test('throws if a path parameter has no description', () => {
    const { parameters: _, ...unexplained } = operation;
    expect(() => controlDocument([unexplained])).toThrow("putGate does not describe the parameter 'gate' of its path.");
  });
});

test('lets no operation take the empty text for the id of an organization, which no row can have', () => {
  const parameters = named.flatMap(([name, operation]) =>
    (documentedOperation(operation).parameters ?? [])
      .filter((parameter) => parameter.name === 'organization')
      .map(({ schema }) => [name, (schema as { minLength?: number }).minLength] as const),
  );
  expect(parameters.length).toBeGreaterThan(10);
  expect(parameters.filter(([, minLength]) => minLength !== 1)).toEqual([]);
});

test.each(named)('%s lists its limits, and 429 if it has any', (_, operation) => {
  const { description, responses } = documentedOperation(operation);
  const bounds = limitsOf(operation).flatMap((name) => callLimitOf(name).bounds);
  if (operation.access !== 'public') expect(bounds.length).toBeGreaterThan(0);
  for (const bound of bounds) expect(description).toContain(textForAll(bound));
  if (bounds.length > 0) expect(responses).toHaveProperty('429');
});
