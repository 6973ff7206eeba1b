import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

const MODEL = 'sluice-tiny-embed';
const MAX_INPUTS = 2_048;

let run: TestRun;
let client: OpenAI;
beforeAll(async () => {
  run = await shareTestRun();
  client = new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});
afterAll(() => run.close());

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${run.base_url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${run.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

interface EmbeddingList {
  data: { index: number; embedding: number[] }[];
  usage: { prompt_tokens: number; total_tokens: number };
}

const embed = async (input: unknown): Promise<EmbeddingList> => {
  const response = await post('/v1/embeddings', { model: MODEL, input });
  expect(response.status).toBe(200);
  return (await response.json()) as EmbeddingList;
};

const similarity = (one: readonly number[], other: readonly number[]): number => {
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, place) => sum + value * (b[place] ?? 0), 0);
  return dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other));
};

describe('POST /v1/embeddings of a local run', () => {
  test('gives similar texts similar vectors', async () => {
    const { data } = await embed([
      'The gate holds the water back.',
      'A gate that holds back water.',
      'Monthly invoices are due on Friday.',
    ]);
    const [gate, again, invoices] = data.map(({ embedding }) => embedding) as [number[], number[], number[]];
    expect(similarity(gate, again)).toBeGreaterThan(similarity(gate, invoices) + 0.1);
  });

  test('gives the OpenAI client the same vectors as base64, its default, and as numbers', async () => {
    const input = ['one', 'two'];
    const { data } = await client.embeddings.create({ model: MODEL, input });
    const plain = await embed(input);
    expect(data.map(({ embedding }) => embedding)).toEqual(plain.data.map(({ embedding }) => embedding));
  });

  test(`embeds ${MAX_INPUTS} inputs in one request, whose tokens are the sum of its parts`, async () => {
    const input = Array.from({ length: MAX_INPUTS }, (_, index) => `Input number ${index}`);
    const { data, usage } = await embed(input);
    expect(data.map(({ index }) => index)).toEqual([...input.keys()]);
    const [last] = (await embed(input.at(-1))).data;
    expect(data.at(-1)?.embedding).toEqual(last?.embedding);
    const halves = await Promise.all([embed(input.slice(0, MAX_INPUTS / 2)), embed(input.slice(MAX_INPUTS / 2))]);
    expect(usage.prompt_tokens).toBe(halves.reduce((sum, half) => sum + half.usage.prompt_tokens, 0));
  });

  test.each([
    ['/v1/embeddings', 'sluice-tiny', { input: 'a' }, '/v1/chat/completions'],
    ['/v1/chat/completions', MODEL, { messages: [{ role: 'user', content: 'a' }] }, '/v1/embeddings'],
    ['/v1/completions', MODEL, { prompt: 'a' }, '/v1/embeddings'],
    ['/v1/responses', MODEL, { input: 'a' }, '/v1/embeddings'],
    ['/v1/messages', MODEL, { messages: [{ role: 'user', content: 'a' }], max_tokens: 5 }, '/v1/embeddings'],
    ['/v1/messages/count_tokens', MODEL, { messages: [{ role: 'user', content: 'a' }] }, '/v1/embeddings'],
  ])('answers %s for %s with a 400 that names the right path', async (path, model, fields, right) => {
    const response = await post(path, { model, ...fields });
    expect([response.status, JSON.stringify(await response.json())]).toEqual([400, expect.stringContaining(right)]);
  });
});
