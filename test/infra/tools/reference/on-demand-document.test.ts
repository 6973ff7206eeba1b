import { describe, expect, test } from '@jest/globals';
import { openApiDocument, operations } from '../../../../infra/tools/reference/inference-document.ts';
import type { HostScope } from '../../../../shared/hosts/host.ts';
import { type Json, schemasOf } from '../../../support/clients/schemas.ts';

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: Json;
  example: unknown;
}
interface DocumentedOperation extends Json {
  summary: string;
  security?: unknown;
  parameters?: Parameter[];
  responses: Record<string, Json>;
}
interface Failure {
  content: { 'application/json': { examples: Record<string, { value: { error: Json | string; code?: string } }> } };
}

const onWire = (host: HostScope): Json => JSON.parse(JSON.stringify(openApiDocument(host))) as Json;
const document = onWire('on_demand');
const serverless = onWire('serverless');
const paths = document.paths as Record<string, Record<string, DocumentedOperation>>;
const documented = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);
const { schemas, responses } = document.components as { schemas: Record<string, { properties: Record<string, Json> }>; responses: Json };

const PUBLIC = ['GET /health', 'GET /version', 'GET /openapi.json', 'GET /docs'];
const OF_END_USER = [
  'POST /v1/chat/completions',
  'POST /v1/embeddings',
  'POST /v1/rerank',
  'POST /v2/rerank',
  'POST /v1/messages',
  'POST /v1/messages/count_tokens',
  'POST /v1/responses',
  'GET /v1/responses/{id}',
  'DELETE /v1/responses/{id}',
  'GET /v1/responses/{id}/input_items',
  'GET /v1/models',
  'GET /v1/models/{model}',
];

const examplesOf = (status: number) => (responses[status] as Failure).content['application/json'].examples;

test('has exactly the operations of the on-demand host', () => {
  expect(documented.map(([name]) => name).toSorted()).toEqual([...OF_END_USER, 'GET /v1/key', ...PUBLIC].toSorted());
});

describe.each(documented)('%s', (name, operation) => {
  const userId = operation.parameters?.find((parameter) => parameter.in === 'header' && parameter.name === 'X-User-Id');

  test('says whether it needs an API key', () => {
    const isPublic = PUBLIC.includes(name);
    expect(operation.security).toEqual(isPublic ? [] : undefined);
    expect(Object.hasOwn(operation.responses, '401')).toBe(!isPublic);
  });

  test('says whether it needs a user id, and that a missing one returns 400', () => {
    const isOfEndUser = OF_END_USER.includes(name);
    expect(userId !== undefined).toBe(isOfEndUser);
    if (!isOfEndUser) return;
    expect(userId).toMatchObject({ required: true, schema: { type: 'string', format: 'uuid' } });
    expect(schemasOf(document).faults(userId?.schema ?? {}, userId?.example)).toEqual([]);
    const component = name.includes('/v1/messages') ? 'messages-400' : '400';
    expect(operation.responses).toHaveProperty('400', { $ref: `#/components/responses/${component}` });
  });
});

test('the serverless host takes no user id', () => {
  expect(JSON.stringify(serverless)).not.toContain('X-User-Id');
});

test('models are documented as your own deployments', () => {
  for (const { body } of operations('on_demand'))
    if (body) expect(schemas[body.name]?.properties.model?.description).toContain('one of your deployments');
  expect(paths['/v1/models']?.get?.summary).toBe('List your deployments');
  expect(schemas.Health?.properties.models?.description).toContain('Empty');
});

test('documents the errors that only this host returns', () => {
  expect(Object.values(examplesOf(400)).map(({ value }) => value.error)).toContainEqual(expect.objectContaining({ param: 'X-User-Id' }));
  expect(Object.values(examplesOf(401)).map(({ value }) => value.error)).toContainEqual(expect.stringContaining('serverless host'));
  const absent = Object.values(examplesOf(404)).filter(({ value }) => (value.error as Json).code === 'model_not_found');
  expect(absent.map(({ value }) => (value.error as Json).message)).toEqual([
    expect.stringMatching(/Did you mean '[^']+'\? GET \/v1\/models lists/),
    expect.stringContaining('This API key may use: '),
  ]);
  expect(Object.values(examplesOf(503)).map(({ value }) => value.error)).toContainEqual(
    expect.objectContaining({ code: 'deployment_not_ready' }),
  );
  expect(examplesOf(503).deployment_waking?.value.error).toHaveProperty('wake', {
    started_at: 1_795_262_280,
    expected_at: 1_795_262_580,
    p50_seconds: 300,
    p90_seconds: 420,
  });
});

test.each(['/v1/chat/completions', '/v1/responses'])('%s documents the header that waits for capacity, on both hosts', (path) => {
  for (const { paths: ofHost } of [document, serverless] as { paths: typeof paths }[]) {
    const wait = ofHost[path]?.post?.parameters?.find(({ name }) => name === 'X-Wait-For-Capacity');
    expect(wait).toMatchObject({ in: 'header', schema: { type: 'integer', maximum: 560 } });
    expect(wait).not.toHaveProperty('required');
  }
});
