import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';
import { EXAMPLE_MODELS, START_WITH_MODELS } from '../../../../infra/tools/reference/start-viewer.ts';

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
  const later = { text: `"${EXAMPLE_MODELS.generate}"` };
  expect(await interceptor?.(later)).toEqual({ text: `"${EXAMPLE_MODELS.generate}"` });
  return JSON.parse(text ?? '');
};

describe('the examples that the reference shows', () => {
  test('name a model that the host has, with their task', async () => {
    const known = new Set<string>(Object.values(EXAMPLE_MODELS));
    expect(modelsOf(document).filter((name) => !known.has(name))).toEqual([]);
    const data = [
      { id: 'vectors', task: 'embed' },
      { id: 'my/$&"model', task: 'generate' },
      { id: 'other', task: 'generate' },
      { id: 'ranks', task: 'rerank' },
    ];
    const changed = await shown(async () => ({ ok: true, json: async () => ({ data }) }));
    const shownAs = { 'qwen3-8b': 'my/$&"model', 'bge-m3': 'vectors', 'bge-reranker-v2-m3': 'ranks' };
    expect(modelsOf(changed)).toEqual(modelsOf(document).map((name) => shownAs[name as keyof typeof shownAs]));
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
      new Set(['idempotency-key', 'x-sluice-fallback', 'x-sluice-log', 'x-wait-for-capacity']),
    );
    for (const { example, schema } of optional)
      expect([example, schema.example, schema.examples]).toEqual([undefined, undefined, [expect.anything()]]);
  });
});
