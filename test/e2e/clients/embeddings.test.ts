import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OpenAIEmbeddings } from '@langchain/openai';
import { cosineSimilarity, embed, embedMany } from 'ai';
import OpenAI from 'openai';
import { CORPUS_FOLDER, readCorpus } from '../../../infra/local/model-server/model/corpus.ts';
import { createVectorModel } from '../../../infra/local/model-server/vectors/vectors.ts';
import { HOSTS, type HostRun, startHostRun } from '../../support/clients/hosts.ts';

const MODEL = 'sluice-tiny-embed';
const paragraphs = readCorpus(CORPUS_FOLDER);
const vectors = createVectorModel(paragraphs);
const vectorOf = (text: string, dimensions?: number): number[] => [...vectors.embed(text, dimensions)];

const TEXTS = ['What is a weir?', 'How do I boil an egg?', 'Größe 水 🙂'];

describe.each(HOSTS)('the %s host', (name) => {
  let run: HostRun;
  let client: OpenAI;
  let baseURL: string;
  let apiKey: string;
  beforeAll(async () => {
    run = await startHostRun(name);
    baseURL = `${run.base_url}/v1`;
    apiKey = (await run.createKey()).secret;
    client = new OpenAI({ apiKey, baseURL, maxRetries: 0, defaultHeaders: run.host.headers });
  });
  afterAll(async () => {
    await run.close();
  });

  describe('the official OpenAI client', () => {
    // Without a format, it requests base64 and decodes it.
    test.each([undefined, 'float', 'base64'] as const)('returns the numbers of the model with the format %s', async (encoding_format) => {
      const reply = await client.embeddings.create({ model: MODEL, input: TEXTS, ...(encoding_format && { encoding_format }) });
      expect(reply).toMatchObject({ object: 'list', model: MODEL });
      const numbers = reply.data.map(({ embedding }) => {
        const bytes = Buffer.from(String(embedding), 'base64');
        return encoding_format === 'base64' ? [...new Float32Array(new Uint8Array(bytes).buffer)] : embedding;
      });
      expect(numbers).toEqual(TEXTS.map((text) => vectorOf(text)));
      expect(reply.data.map(({ index }) => index)).toEqual([0, 1, 2]);
      expect(reply.usage.prompt_tokens).toBeGreaterThan(0);
      expect(reply.usage).toEqual({ prompt_tokens: reply.usage.prompt_tokens, total_tokens: reply.usage.prompt_tokens });
    });

    test('returns shorter vectors', async () => {
      const { data } = await client.embeddings.create({ model: MODEL, input: 'What is a weir?', dimensions: 16 });
      expect(data[0]?.embedding).toEqual(vectorOf('What is a weir?', 16));
    });

    test.each([
      ['chat', () => client.chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }), /\/v1\/embeddings/],
      ['embeddings', () => client.embeddings.create({ model: 'sluice-tiny', input: 'Hi' }), /\/v1\/chat\/completions/],
    ])('throws an error that names the right route for a model without %s', async (_, call, route) => {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.BadRequestError);
      expect((error as Error).message).toMatch(route);
    });
  });

  describe('a search with the OpenAI client', () => {
    test.each([
      ['What is a weir?', /weir/],
      ['how to boil an egg', /boil an egg/],
      ['Why is the tide later every day?', /tide/],
    ])('finds the paragraph of the corpus for: %s', async (query, expected) => {
      const { data } = await client.embeddings.create({ model: MODEL, input: [query, ...paragraphs] });
      const [searched = [], ...known] = data.map(({ embedding }) => embedding);
      const scores = known.map((vector) => cosineSimilarity(searched, vector));
      expect(paragraphs[scores.indexOf(Math.max(...scores))]).toMatch(expected);
    });
  });

  describe('the Vercel AI SDK', () => {
    const model = () => createOpenAICompatible({ name: 'sluice', baseURL, apiKey, headers: run.host.headers }).embeddingModel(MODEL);

    test('embeds one value and several', async () => {
      const one = await embed({ model: model(), value: TEXTS[0] ?? '', maxRetries: 0 });
      expect(one.embedding).toEqual(vectorOf(TEXTS[0] ?? ''));
      expect(one.usage.tokens).toBeGreaterThan(0);
      const { embeddings } = await embedMany({ model: model(), values: TEXTS, maxRetries: 0 });
      expect(embeddings).toEqual(TEXTS.map((text) => vectorOf(text)));
    });
  });

  describe('LangChain', () => {
    const embeddings = () =>
      new OpenAIEmbeddings({ model: MODEL, apiKey, maxRetries: 0, configuration: { baseURL, defaultHeaders: run.host.headers } });

    test('embeds a query and documents', async () => {
      expect(await embeddings().embedQuery('What is a weir?')).toEqual(vectorOf('What is a weir?'));
      expect(await embeddings().embedDocuments(TEXTS)).toEqual(TEXTS.map((text) => vectorOf(text)));
    });
  });
});
