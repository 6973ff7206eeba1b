import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { chatFields } from '../../../../functions/inference/chat/request.ts';
import { openApiDocument, operations } from '../../../../infra/tools/reference/inference-document.ts';
import type { HostScope } from '../../../../shared/hosts/host.ts';
import { requestRows } from '../../../support/clients/chat-interface-rows.ts';
import { having, type Json, schemasOf } from '../../../support/clients/schemas.ts';
import { readEvents } from '../../../support/clients/server-sent-events.ts';

const documentOf = (host: HostScope): Json => JSON.parse(JSON.stringify(openApiDocument(host))) as Json;
const document = documentOf('serverless');
interface Components {
  schemas: Record<string, { properties: Record<string, Json>; required: string[] }>;
}
const { schemas } = document.components as Components;

describe.each([
  ['serverless', 'Sluice'],
  ['on_demand', 'Sluice on-demand'],
] as const)('the document of the %s host', (host, title) => {
  const document = documentOf(host);
  const { schemas } = document.components as Components;

  test('is a valid OpenAPI 3.1 document', async () => {
    expect(await new Validator().validate(document)).toEqual({ valid: true });
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title, version: '1.0.0' }, servers: [{ url: '.' }] });
  });

  test('has no broken references and no unused schemas', () => {
    const refs = new Set(having('$ref', document).map(({ $ref }) => $ref as string));
    const found = (ref: string): unknown =>
      ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
    expect([...refs].filter((ref) => found(ref) === undefined)).toEqual([]);
    expect(Object.keys(schemas).filter((name) => !refs.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  test('operations have unique ids, and those that need a key can return 401', () => {
    const all = operations(host);
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
    for (const { operationId, access } of all) {
      const isPublic = access === 'public';
      const [operation = {}] = having('operationId', document).filter((one) => one.operationId === operationId);
      expect(operation.security).toEqual(isPublic ? [] : undefined);
      expect(Object.keys(operation.responses as Json).includes('401')).toBe(!isPublic);
    }
  });

  test('every operation that takes content can be kept out of the payload log', () => {
    for (const { operationId, body } of operations(host)) {
      const [operation = {}] = having('operationId', document).filter((one) => one.operationId === operationId);
      const header = ((operation.parameters ?? []) as Json[]).find(({ name }) => name === 'x-sluice-log');
      expect(header !== undefined).toBe(body !== undefined);
      if (header) expect(header).toMatchObject({ in: 'header', schema: { type: 'string', enum: ['off'] } });
    }
  });

  test('every field of every request has a description', () => {
    for (const { body } of operations(host)) {
      if (!body) continue;
      const properties = Object.entries(schemas[body.name]?.properties ?? {});
      expect(properties.length).toBeGreaterThan(0);
      expect(properties.filter(([, { description }]) => !description).map(([name]) => name)).toEqual([]);
    }
  });

  test('every example fits its schema and has no undocumented fields', () => {
    const { faults } = schemasOf(document, { isClosed: true });
    const contents = having('examples', document).filter(({ schema, examples }) => schema && !Array.isArray(examples));
    expect(contents.length).toBeGreaterThan(10);
    for (const { schema, examples } of contents)
      for (const [name, { value }] of Object.entries(examples as Record<string, { value: unknown }>)) {
        const stream = typeof value === 'string' ? readEvents(value) : undefined;
        const values = stream?.events.map(({ data }) => data as Json) ?? [value];
        expect(stream === undefined || stream.isDone || /^(response\.completed|message_stop)$/.test(stream.events.at(-1)?.name ?? '')).toBe(
          true,
        );
        for (const one of values) expect({ name, faults: faults(schema as Json, one) }).toEqual({ name, faults: [] });
      }
  });
});

describe('the chat completion request', () => {
  const { faults } = schemasOf(document);
  const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
  const faultsOf = (change: Json): string[] => faults({ $ref: '#/components/schemas/ChatCompletionRequest' }, { ...ask, ...change });

  test('has every field of the interface', () => {
    expect(Object.keys(schemas.ChatCompletionRequest?.properties ?? {})).toEqual(expect.arrayContaining(chatFields));
    expect(schemas.ChatCompletionRequest?.required).toEqual(['model', 'messages']);
  });

  test('marks deprecated fields', () => {
    const deprecated = Object.entries(schemas.ChatCompletionRequest?.properties ?? {}).filter(([, property]) => property.deprecated);
    expect(deprecated.map(([name]) => name)).toEqual(['functions', 'function_call']);
  });

  test.each(Object.entries(requestRows))('accepts the valid values of %s', (name, { takes, isNullable, beside }) => {
    for (const value of [...takes, ...(isNullable ? [null] : [])])
      expect({ value, faults: faultsOf({ ...beside, [name]: value }) }).toEqual({ value, faults: [] });
  });

  test.each([
    ['temperature', 3],
    ['n', 0],
    ['logit_bias', { '5': 101 }],
    ['logit_bias', { word: 1 }],
    ['seed', 1.5],
    ['response_format', { type: 'text', extra: 1 }],
    ['response_format', { type: 'json_schema', json_schema: { name: 'a' } }],
    ['tool_choice', 'always'],
    ['thinking', { type: 'maybe' }],
    ['reasoning_effort', 'extreme'],
  ])('rejects %s %j', (name, value) => {
    expect(faultsOf({ [name]: value })).not.toEqual([]);
  });
});

test('the detokenize request allows as many tokens as a tokenize response can have', () => {
  const tokensOf = (name: string) => schemas[name]?.properties.tokens;
  expect([tokensOf('TokenizeReply'), tokensOf('DetokenizeRequest')]).toMatchObject(Array(2).fill({ type: 'array', maxItems: 240_000 }));
});
