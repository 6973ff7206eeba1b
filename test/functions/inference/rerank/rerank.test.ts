import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Ranking } from '../../../../functions/inference/rerank/operation.ts';
import { rerank } from '../../../../functions/inference/rerank/route.ts';
import { inferenceHostRoutes } from '../../../../shared/hosts/inference-routes.ts';
import { RefusedByModel, UpstreamFailed } from '../../../../shared/upstream/errors.ts';
import { bodyOf, PRICE_NANOS, repliesWith, startPooling } from '../embeddings/fixtures.ts';

interface SentBody {
  query: string;
  documents?: string[];
  texts?: string[];
}

// A score for a text: the later in the alphabet, the higher.
const scoreOf = (text: string): number => (text.codePointAt(0) ?? 0) / 128;

const vllm = repliesWith(({ documents = [] }: SentBody) => ({
  results: documents
    .map((text, index) => ({ index, document: { text }, relevance_score: scoreOf(text) }))
    .sort((one, other) => other.relevance_score - one.relevance_score),
  usage: { prompt_tokens: 3 * documents.length },
}));
const tei = repliesWith(({ texts = [] }: SentBody) => texts.map((text, index) => ({ index, score: scoreOf(text) })).reverse());

// `r` ranks; `t` does so with TEI and its own tokenizer; `e` embeds, `m` generates.
const models = {
  r: { task: 'rerank' },
  t: { task: 'rerank', dialect: 'tei', tokenizer: { tokenizer: 'k' } },
  e: { task: 'embed', embedding: { dimensions: 2 } },
  m: {},
} as const;

let route: Awaited<ReturnType<typeof start>>;
const start = () => startPooling(inferenceHostRoutes.createRerank.path, rerank, models, 'r');
beforeAll(async () => {
  route = await start();
});
afterAll(() => route.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const query = 'q';
const documents = ['a', 'c', { text: 'b', title: 'ignored' }];

describe('POST /v1/rerank', () => {
  test('returns the indexes and scores of all documents, the most relevant first', async () => {
    const { call, sent, events } = await route.setUp(vllm);
    const body = await bodyOf(await call({ query, documents }));
    expect(Ranking.parse(body)).toEqual(body);
    expect(body).toEqual({
      id: expect.stringMatching(/^rerank-/),
      object: 'list',
      model: 'r',
      results: [
        { index: 1, relevance_score: scoreOf('c') },
        { index: 2, relevance_score: scoreOf('b') },
        { index: 0, relevance_score: scoreOf('a') },
      ],
      usage: { prompt_tokens: 9, total_tokens: 9 },
      meta: { billed_units: { total_tokens: 9 } },
    });
    expect(sent).toEqual([
      { model: '', query, documents: ['a', 'c', 'b'], cache_salt: expect.any(String), request_id: expect.any(String) },
    ]);
    expect(await events()).toMatchObject([
      { outcome: 'completed', prompt_tokens: 9, completion_tokens: 0, route: '/v1/rerank', cost_nanos: 9n * BigInt(PRICE_NANOS) },
    ]);
  });

  test('returns only the best documents, and their texts on request', async () => {
    const { call } = await route.setUp(vllm);
    expect(await bodyOf(await call({ query, documents, top_n: 1, return_documents: true }))).toMatchObject({
      results: [{ index: 1, document: { text: 'c' } }],
      usage: { total_tokens: 9 },
    });
    expect(((await bodyOf(await call({ query, documents, top_n: 99 }))).results as unknown[]).length).toBe(3);
  });

  test('keeps the order of documents with equal scores', async () => {
    const { call } = await route.setUp(vllm);
    const { results } = (await bodyOf(await call({ query, documents: ['b', 'a', 'b', 'b'] }))) as { results: { index: number }[] };
    expect(results.map(({ index }) => index)).toEqual([0, 2, 3, 1]);
  });

  test('ranks 1,000 documents across several calls, all of which have the query', async () => {
    const { call, sent, events } = await route.setUp(vllm);
    const many = Array.from({ length: 1_000 }, (_, place) => (place === 777 ? 'z' : 'a'));
    expect(await bodyOf(await call({ query, documents: many, top_n: 1 }))).toMatchObject({ results: [{ index: 777 }] });
    expect(sent.map((body) => (body as unknown as SentBody).query)).toEqual(Array(10).fill(query));
    expect(await events()).toMatchObject([{ prompt_tokens: 3_000 }]);
  });

  test('ranks with TEI in batches of 32, and charges the tokenizer’s counts of each document with the query', async () => {
    const count = async ({ texts }: { texts: string[] }) => ({ prompt_tokens: null, text_tokens: texts.map(() => 5), special_tokens: 2 });
    const { call, sent, events } = await route.setUp(tei, { tokenizer: { count } as never });
    const many = Array.from({ length: 40 }, (_, place) => (place === 35 ? 'z' : 'a'));
    expect(await bodyOf(await call({ model: 't', query, documents: many, top_n: 1 }))).toMatchObject({ results: [{ index: 35 }] });
    expect(sent).toEqual([
      { query, texts: many.slice(0, 32), raw_scores: false, return_text: false, truncate: false },
      { query, texts: many.slice(32), raw_scores: false, return_text: false, truncate: false },
    ]);
    // 5 + 2 tokens of each document, and 5 + 2 of the query with one more to separate them.
    expect(await events()).toMatchObject([{ prompt_tokens: 40 * 15, outcome: 'completed' }]);
  });

  test('lists fields of other APIs that have no effect', async () => {
    const { call } = await route.setUp(vllm);
    const { headers } = await call({ query, documents, max_tokens_per_doc: 9, rank_fields: ['text'], truncation: true, top_n: null });
    expect(headers['x-sluice-ignored']).toBe('max_tokens_per_doc, rank_fields, truncation');
  });
});

describe('a request to rank documents that cannot be answered', () => {
  test.each([
    [{ documents }, 'query'],
    [{ query: '', documents }, 'query'],
    [{ query }, 'documents'],
    [{ query, documents: [] }, 'documents'],
    [{ query, documents: 'a' }, 'documents'],
    [{ query, documents: ['a', ''] }, 'documents[1]'],
    [{ query, documents: [{ image: 'x' }] }, 'documents[0]'],
    [{ query, documents: [null] }, 'documents[0]'],
    [{ query, documents: Array(1_001).fill('a') }, 'documents'],
    [{ query, documents, top_n: 0 }, 'top_n'],
    [{ query, documents, return_documents: 'yes' }, 'return_documents'],
    [{ query: 'q'.repeat(4_000), documents: Array(1_000).fill('a') }, 'documents'],
    [{ model: 'm', query, documents }, 'model'],
    [{ model: 'e', query, documents }, 'model'],
  ])('is a 400 that names the field and costs nothing: %#', async (body, param) => {
    const { call, sent, events } = await route.setUp(vllm);
    await expect(call(body)).rejects.toMatchObject({ status: 400, param, message: expect.not.stringContaining('Invalid input') });
    expect(sent).toEqual([]);
    expect(await events()).toEqual([]);
  });

  test('names the documents of the call if the runtime says that one is too long', async () => {
    const tooLong = repliesWith(() => {
      throw new RefusedByModel('`inputs` must have less than 512 tokens. Given: 600');
    });
    const { call, events } = await route.setUp(tooLong);
    await expect(call({ query, documents })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'documents',
      message: expect.stringContaining("between 'documents[0]' and 'documents[2]'"),
    });
    expect(await events()).toMatchObject([{ prompt_tokens: 0, cost_nanos: 0n }]);
  });

  test.each([
    ['too few scores', { results: [{ index: 0, relevance_score: 1 }] }],
    ['a document twice', { results: [0, 1, 1].map((index) => ({ index, relevance_score: 1 })) }],
    ['an unknown document', { results: [0, 1, 3].map((index) => ({ index, relevance_score: 1 })) }],
    ['no number', { results: [0, 1, 2].map((index) => ({ index, relevance_score: null })) }],
    ['NaN', '{"results":[{"index":0,"relevance_score":NaN}]}'],
    [
      'an infinite number',
      '{"results":[{"index":0,"relevance_score":1e999},{"index":1,"relevance_score":1},{"index":2,"relevance_score":1}]}',
    ],
    ['nothing', {}],
  ])('is a failure of the model that costs nothing if the runtime replies with %s', async (_, reply) => {
    const { call, events, inFlight } = await route.setUp(repliesWith(() => reply));
    await expect(call({ query, documents })).rejects.toMatchObject({ status: 503, code: 'upstream_error' });
    expect(await events()).toMatchObject([{ prompt_tokens: 0, cost_nanos: 0n, error_code: 'upstream_error' }]);
    expect(await inFlight()).toBe(0);
  });

  test('costs nothing if one of several calls fails', async () => {
    let calls = 0;
    const failing = repliesWith((sent: SentBody) => {
      calls += 1;
      if (calls === 3) throw new UpstreamFailed('no_capacity', 'busy');
      return { results: sent.documents?.map((_, index) => ({ index, relevance_score: 1 })), usage: { prompt_tokens: 1 } };
    });
    const { call, events } = await route.setUp(failing);
    await expect(call({ query, documents: Array(500).fill('a') })).rejects.toMatchObject({ status: 503 });
    expect(await events()).toMatchObject([{ prompt_tokens: 0, cost_nanos: 0n }]);
  });
});
