import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, EMBEDDING_MODEL_NAME, errorOf, invoke, post, RERANK_MODEL_NAME, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer({ windowTokens: 64 });
});
afterAll(() => container.close());

interface Ranking {
  results: { index: number; document: { text: string }; relevance_score: number }[];
  usage: { prompt_tokens: number; total_tokens: number };
}
const model = RERANK_MODEL_NAME;
const query = 'How does a lock work?';
const documents = ['An onion for the soup.', 'A lock has a gate at each end, so it works like a step.', 'A bell.'];
const rerank = async (body: object, path = '/invocations'): Promise<Ranking> =>
  (await (await post(container.url + path, { model, query, documents, ...body })).json()) as Ranking;
const countOf = (text: string): number => tokenizer.encodeText(text).length;

describe('a rerank request', () => {
  test.each(['/invocations', '/rerank', '/v1/rerank', '/v2/rerank'])('returns the shape of vLLM, best first, on %s', async (path) => {
    const tokens = documents.reduce((sum, document) => sum + countOf(query) + countOf(document) + 3, 0);
    const reply = await rerank({}, path);
    expect(reply).toEqual({
      id: expect.stringMatching(/^score-/),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
      results: expect.arrayContaining([
        { index: 0, document: { text: documents[0], multi_modal: null }, relevance_score: expect.any(Number) },
      ]),
    });
    expect(reply.results).toHaveLength(3);
    expect(reply.results[0]).toMatchObject({ index: 1, document: { text: documents[1] } });
    const scores = reply.results.map((result) => result.relevance_score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores.every((score) => score > 0 && score < 1)).toBe(true);
  });

  test('returns the best of top_n, and all for 0', async () => {
    expect((await rerank({ top_n: 1 })).results.map(({ index }) => index)).toEqual([1]);
    expect((await rerank({ top_n: 0 })).results).toHaveLength(3);
  });

  test('counts at most max_tokens_per_doc of each document', async () => {
    const { usage } = await rerank({ documents: ['bread '.repeat(100)], max_tokens_per_doc: 5 });
    expect(usage.total_tokens).toBe(countOf(query) + 5 + 3);
  });

  test('returns logits without activation', async () => {
    const [best] = (await rerank({})).results;
    const [logit] = (await rerank({ use_activation: false })).results;
    expect(1 / (1 + Math.exp(-(logit?.relevance_score ?? 0)))).toBeCloseTo(best?.relevance_score ?? 0, 12);
  });

  test('is rejected over the window, or for another model', async () => {
    const long = await errorOf(await invoke(container, { model, query, documents: ['bread '.repeat(100)] }));
    expect(long.message).toContain('maximum context length is 64 tokens');
    const wrong = await errorOf(await invoke(container, { model: EMBEDDING_MODEL_NAME, query, documents }));
    expect(wrong.message).toContain("Expected one of: ['EmbeddingRequest']");
  });
});
