import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { VECTOR_DIMENSIONS } from '../../../../../infra/local/model-server/vectors/vectors.ts';
import {
  type Container,
  control,
  EMBEDDING_MODEL_NAME,
  errorOf,
  invoke,
  MODEL_NAME,
  post,
  question,
  startContainer,
  tokenizer,
  vectors,
} from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer({ windowTokens: 64 });
});
afterAll(() => container.close());

interface Embeddings {
  object: string;
  model: string;
  data: { index: number; object: string; embedding: number[] | string }[];
  usage: object;
}
const model = EMBEDDING_MODEL_NAME;
const embed = async (body: object, path = '/invocations'): Promise<Embeddings> =>
  (await (await post(container.url + path, { model, ...body })).json()) as Embeddings;

const TEXT = 'What is a weir?';
const WHOLE = [...vectors.embed(TEXT)];

describe('embeddings', () => {
  test.each(['/invocations', '/v1/embeddings'])('have the shape of vLLM on %s', async (path) => {
    const tokens = tokenizer.encodeText(TEXT).length + 2;
    expect(await embed({ input: TEXT }, path)).toEqual({
      id: expect.stringMatching(/^embd-/),
      object: 'list',
      created: expect.any(Number),
      model,
      data: [{ index: 0, object: 'embedding', embedding: WHOLE }],
      usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null },
    });
  });

  test('are in the order of the inputs', async () => {
    const { data } = await embed({ input: ['soup', TEXT, 'bread'] });
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(data[1]?.embedding).toEqual(WHOLE);
  });

  test.each([
    ['little', 'LE'],
    ['native', 'LE'],
    ['big', 'BE'],
  ] as const)('are float32 numbers in base64, %s-endian', async (endianness, order) => {
    const { data } = await embed({ input: TEXT, encoding_format: 'base64', endianness });
    const bytes = Buffer.from(String(data[0]?.embedding), 'base64');
    const numbers = Array.from({ length: VECTOR_DIMENSIONS }, (_, at) =>
      order === 'LE' ? bytes.readFloatLE(at * 4) : bytes.readFloatBE(at * 4),
    );
    expect(bytes).toHaveLength(VECTOR_DIMENSIONS * 4);
    expect(numbers).toEqual(WHOLE);
  });

  test('give token ids the vector of their text, and count no special tokens for them', async () => {
    const ids = tokenizer.encodeText(TEXT);
    expect(await embed({ input: ids })).toMatchObject({ data: [{ embedding: WHOLE }], usage: { prompt_tokens: ids.length } });
    expect((await embed({ input: [ids, ids] })).data).toHaveLength(2);
    expect(await embed({ input: TEXT, add_special_tokens: false })).toMatchObject({ usage: { prompt_tokens: ids.length } });
  });

  test('can be shortened', async () => {
    expect((await embed({ input: TEXT, dimensions: 8 })).data[0]?.embedding).toEqual([...vectors.embed(TEXT, 8)]);
  });

  test('truncate a long input only if requested', async () => {
    const usage = { prompt_tokens: 64 };
    expect(await embed({ input: 'bread '.repeat(200), truncate_prompt_tokens: -1 })).toMatchObject({ usage });
  });

  test.each([
    ['an input over the window', { input: ['a', 'bread '.repeat(200)] }, /maximum context length is 64 tokens/],
    ['an unknown token id', { input: [1, 1_000_000] }, /Token id 1000000 is out of vocabulary/],
    ['a negative token id', { input: [-1] }, /Token id -1 is out of vocabulary/],
    ['too many dimensions', { input: 'a', dimensions: 513 }, /only supports dimensions in range \[1, 512\], got 513/],
    ['no dimensions', { input: 'a', dimensions: 0 }, /got 0/],
    ['a mixed list', { input: ['a', 1] }, /Cannot find suitable handler.*'EmbeddingRequest'/],
    ['an unknown format', { input: 'a', encoding_format: 'int8' }, /Cannot find suitable handler/],
    ['a chat request', { messages: question }, /Cannot find suitable handler/],
  ])('reject %s', async (_, body, message) => {
    expect(await errorOf(await invoke(container, { model, ...body }))).toMatchObject({
      type: 'BadRequestError',
      message: expect.stringMatching(message),
    });
  });

  test('are not served by a model that generates text, nor under an unknown name', async () => {
    expect((await errorOf(await invoke(container, { model: MODEL_NAME, input: 'a' }))).message).toContain("'ChatCompletionRequest'");
    expect(await errorOf(await post(`${container.url}/v1/embeddings`, { model: MODEL_NAME, input: 'a' }))).toMatchObject({ code: 404 });
  });

  test('fail with the fault of /control', async () => {
    await control(container, { fault: { kind: 'error', status: 503, times: 1 } });
    expect((await invoke(container, { model, input: 'a' })).status).toBe(503);
    await control(container, { fault: { kind: 'destroy', after_tokens: 0, times: 1 } });
    await expect(invoke(container, { model, input: 'a' })).rejects.toThrow();
    expect((await embed({ input: 'a' })).data).toHaveLength(1);
  });
});
