import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, post, startContainer, tokenizer, vectors } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer({ windowTokens: 64 });
});
afterAll(() => container.close());

const embed = (body: object | string): Promise<Response> => post(`${container.url}/tei/embed`, body);
const rerank = (body: object): Promise<Response> => post(`${container.url}/tei/rerank`, body);
const countOf = (text: string): number => tokenizer.encodeText(text).length;

describe('/tei/embed', () => {
  test('returns bare vectors and counts tokens in a header', async () => {
    const response = await embed({ inputs: ['What is a weir?', 'soup'] });
    expect(await response.json()).toEqual([[...vectors.embed('What is a weir?')], [...vectors.embed('soup')]]);
    expect(response.headers.get('x-compute-tokens')).toBe(String(countOf('What is a weir?') + countOf('soup') + 4));
    expect(await (await embed({ inputs: 'soup', dimensions: 4 })).json()).toEqual([[...vectors.embed('soup', 4)]]);
  });

  test('truncates a long input only if requested', async () => {
    expect((await embed({ inputs: 'bread '.repeat(100), truncate: true })).headers.get('x-compute-tokens')).toBe('64');
  });

  test.each([
    ['33 inputs', { inputs: Array.from({ length: 33 }, () => 'a') }, 413, 'Validation', /batch size 33 > maximum allowed batch size 32/],
    ['a long input', { inputs: ['bread '.repeat(100)] }, 413, 'Validation', /64 tokens/],
    ['a large body', { inputs: 'a'.repeat(2_000_000) }, 413, 'Validation', /length limit/],
    ['no input', { inputs: [] }, 400, 'Empty', /`inputs` cannot be empty/],
    ['another shape', { input: 'a' }, 422, 'Tokenizer', /inputs/],
    ['a body that is not JSON', '{', 422, 'Tokenizer', /JSON/],
  ] as const)('rejects %s', async (_, body, status, kind, message) => {
    const response = await embed(body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringMatching(message), error_type: kind });
  });
});

describe('/tei/rerank', () => {
  const query = 'How does a lock work?';
  const texts = ['An onion for the soup.', 'A lock has a gate at each end, so it works like a step.'];

  test('returns bare scores, best first, and counts the query once for each text', async () => {
    const response = await rerank({ query, texts });
    const results = (await response.json()) as { index: number; score: number }[];
    expect(results.map(({ index }) => index)).toEqual([1, 0]);
    expect(results.every((result) => Object.keys(result).join() === 'index,score' && result.score > 0 && result.score < 1)).toBe(true);
    const tokens = texts.reduce((sum, text) => sum + countOf(query) + countOf(text) + 3, 0);
    expect(response.headers.get('x-compute-tokens')).toBe(String(tokens));
  });

  test('returns texts and raw scores if requested', async () => {
    const [best] = (await (await rerank({ query, texts, return_text: true, raw_scores: true })).json()) as {
      text: string;
      score: number;
    }[];
    expect(best).toEqual({ index: 1, text: texts[1], score: vectors.relevance(query)(texts[1] ?? '') });
  });

  test('rejects an empty list', async () => {
    expect(await (await rerank({ query, texts: [] })).json()).toEqual({ error: '`texts` cannot be empty', error_type: 'Empty' });
  });
});
