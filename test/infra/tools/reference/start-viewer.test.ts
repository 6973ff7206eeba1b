import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import { EXAMPLE_MODEL, START_WITH_MODELS } from '../../../../infra/tools/reference/start-viewer.ts';

type Operation = {
  parameters?: { name: string; in: string; required?: boolean; example?: unknown; schema: { example?: unknown; examples?: unknown[] } }[];
  requestBody?: { content: Record<string, { examples: Record<string, { value: { model?: string } }> }> };
};
const operationsOf = (document: unknown): Operation[] =>
  Object.values((document as { paths: Record<string, Record<string, Operation>> }).paths).flatMap((methods) => Object.values(methods));
const modelsOf = (document: unknown): string[] =>
  operationsOf(document).flatMap(({ requestBody }) =>
    Object.values(requestBody?.content['application/json']?.examples ?? {}).flatMap(({ value: { model } }) => model ?? []),
  );

const document = openApiDocument('serverless');

// Returns the document that the viewer shows, on a host that answers the list of models so.
const shown = async (reply: () => Promise<unknown>): Promise<unknown> => {
  let interceptor: ((response: { text: string }) => Promise<{ text: string }>) | undefined;
  const asked: string[] = [];
  runInNewContext(START_WITH_MODELS, {
    fetch: (url: string) => {
      asked.push(url);
      return reply();
    },
    SwaggerUIBundle: (settings: { responseInterceptor: typeof interceptor }) => {
      interceptor = settings.responseInterceptor;
    },
  });
  expect(asked).toEqual(['v1/models']);
  const { text } = (await interceptor?.({ text: JSON.stringify(document) })) ?? {};
  const later = { text: `"${EXAMPLE_MODEL}"` };
  expect(await interceptor?.(later)).toEqual({ text: `"${EXAMPLE_MODEL}"` });
  return JSON.parse(text ?? '');
};

describe('the examples that the reference shows', () => {
  test('name a model that the host has', async () => {
    expect(new Set(modelsOf(document))).toEqual(new Set([EXAMPLE_MODEL]));
    const changed = await shown(async () => ({ ok: true, json: async () => ({ data: [{ id: 'my/$&"model' }, { id: 'other' }] }) }));
    expect(new Set(modelsOf(changed))).toEqual(new Set(['my/$&"model']));
    expect(modelsOf(changed)).toHaveLength(modelsOf(document).length);
  });

  test.each([
    ['are not public', async () => ({ ok: false })],
    ['are none', async () => ({ ok: true, json: async () => ({ data: [] }) })],
    ['cannot be read', async () => Promise.reject(new Error('no'))],
  ])('stay as they are if the models of the host %s', async (_, reply) => {
    expect(await shown(reply)).toEqual(document);
  });

  test('are sent in required parameters only, because the viewer fills in what has an example', () => {
    const parameters = operationsOf(document).flatMap(({ parameters: some = [] }) => some);
    const optional = parameters.filter(({ in: place, required = false }) => place === 'header' && !required);
    expect(new Set(optional.map(({ name }) => name.toLowerCase()))).toEqual(
      new Set(['idempotency-key', 'x-sluice-log', 'x-wait-for-capacity']),
    );
    for (const { example, schema } of optional)
      expect([example, schema.example, schema.examples]).toEqual([undefined, undefined, [expect.anything()]]);
  });
});
