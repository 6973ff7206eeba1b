import { describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../../../infra/tools/reference/inference-document.ts';

interface Operation {
  operationId: string;
  parameters?: { name: string; description: string; schema: { enum?: string[] } }[];
  responses: Record<string, { headers?: Record<string, unknown> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, { properties?: Record<string, { description?: string }> }>;
    responses: Record<string, { description: string; content: { 'application/json': { examples: Record<string, { value: unknown }> } } }>;
  };
}

const documentOf = (host: 'serverless' | 'on_demand') => openApiDocument(host) as unknown as Document;
const ON_DEMAND = ['createChatCompletion', 'createMessage', 'createResponse'];
const WITH_MODELS = ['ChatCompletionRequest', 'ResponsesRequest'];

describe.each([
  ['serverless', [...ON_DEMAND, 'createCompletion'], [...WITH_MODELS, 'CompletionRequest']],
  ['on_demand', ON_DEMAND, WITH_MODELS],
] as const)('the reference of the host %s', (host, routes, requests) => {
  const { paths, components } = documentOf(host);
  const operations = Object.values(paths).flatMap((path) => Object.values(path));

  test('has the headers of fallbacks, in the routes with fallbacks alone', () => {
    const takesOff = operations.filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'x-sluice-fallback'));
    expect(takesOff.map(({ operationId }) => operationId).sort()).toEqual([...routes].sort());
    for (const { responses, parameters = [] } of takesOff) {
      expect(responses[200]?.headers).toHaveProperty('x-sluice-fallback');
      const { schema, description } = parameters.find(({ name }) => name === 'x-sluice-fallback') ?? {};
      expect([schema?.enum, description]).toEqual([['off', 'on'], expect.stringContaining('no_fallback')]);
    }
  });

  test('says in each request what models, fallbacks and user mean', () => {
    const describedIn = (field: string, words: string): string[] =>
      Object.entries(components.schemas)
        .filter(([, { properties }]) => properties?.[field]?.description?.includes(words))
        .map(([name]) => name)
        .sort();
    expect(describedIn('models', 'x-sluice-fallback')).toEqual([...requests].sort());
    expect(describedIn('fallbacks', 'x-sluice-fallback')).toEqual(['CountTokensRequest', 'MessagesRequest']);
    expect(describedIn('user', 'per_user')).toEqual(expect.arrayContaining([...requests]));
  });

  test('shows whose limit a 429 is about', () => {
    const { description, content } = components.responses[429] ?? { description: '', content: undefined };
    expect(description).toContain('`param` names the field or the header of the end user');
    const examples = JSON.stringify(content?.['application/json'].examples);
    for (const owner of ['The end user', 'of this project', 'prepaid credit', 'new end users']) expect(examples).toContain(owner);
    expect(examples.includes("can't be woken")).toBe(host === 'on_demand');
    expect(examples).toContain(host === 'on_demand' ? '"param":"X-User-Id"' : '"param":"user"');
  });
});
