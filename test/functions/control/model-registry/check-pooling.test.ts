import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { NewModel } from '../../../../shared/models/model.ts';
import { checksWith, type Fakes, startFakes } from './target-check-fixtures.ts';

let fakes: Fakes;
beforeAll(async () => {
  fakes = await startFakes();
});
afterAll(() => fakes.close());
beforeEach(() => {
  jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  fakes.sagemaker.reset();
  fakes.sagemaker.deploy('e');
});
afterEach(() => {
  jest.restoreAllMocks();
});

const { check } = checksWith(() => fakes.deps);

const embed = { task: 'embed', embedding: { dimensions: 2 } } as const;
const rerank = { task: 'rerank' } as const;
const tei = { dialect: 'tei' } as const;
const base64 = Buffer.from(Float32Array.of(1, 0).buffer).toString('base64');

const answers = (reply: unknown): void =>
  fakes.sagemaker.answers(
    (_: unknown, response: ServerResponse) => void response.end(typeof reply === 'string' ? reply : JSON.stringify(reply)),
  );

const answered = async (model: Partial<NewModel>, reply: unknown) => {
  answers(reply);
  const { targets, passed, structured_outputs } = await check([{ endpoint: 'e', container_model: 'inner' }], model);
  expect(structured_outputs).toBeNull();
  const last = targets[0]?.checks.at(-1);
  expect(last?.passed).toBe(passed);
  return { passed, detail: last?.detail };
};

describe('the checks of a model that generates no text', () => {
  test.each([
    ['embeddings of vLLM', embed, { data: [{ embedding: base64 }] }, { model: 'inner', input: ['Hi'], encoding_format: 'base64' }],
    ['embeddings of vLLM as numbers', embed, { data: [{ embedding: [1, 0] }] }, { model: 'inner' }],
    ['embeddings of TEI', { ...embed, ...tei }, [[1, 0]], { inputs: ['Hi'] }],
    ['scores of vLLM', rerank, { results: [{ index: 0, relevance_score: 0.5 }] }, { model: 'inner', query: 'Hi', documents: ['Hi'] }],
    ['scores of TEI', { ...rerank, ...tei }, [{ index: 0, score: 0.5 }], { query: 'Hi', texts: ['Hi'] }],
  ])('pass with %s', async (_, model, reply, body) => {
    expect(await answered(model, reply)).toMatchObject({
      passed: true,
      detail: expect.stringMatching(/^The container answered a request/),
    });
    expect(fakes.sagemaker.requests).toMatchObject([body]);
  });

  test.each([
    [embed, { data: [{ embedding: [1, 0, 0] }] }, /vectors have 3 dimensions, but embedding\.dimensions is 2/],
    [{ ...embed, ...tei }, [[1]], /vectors have 1 dimensions/],
    [embed, { data: [] }, /without a vector/],
    [embed, 'not JSON', /without a vector/],
    [rerank, { results: [{ index: 0, relevance_score: null }] }, /without a score/],
    [{ ...rerank, ...tei }, [null], /without a score/],
    [{ ...rerank, ...tei }, null, /without a score/],
  ])('fail with another reply: %j, %j', async (model, reply, detail) => {
    expect(await answered(model, reply)).toEqual({ passed: false, detail: expect.stringMatching(detail) });
  });

  test('name the dialect and the task if the container does not understand the request', async () => {
    fakes.sagemaker.answersError(422, { detail: [{ loc: ['body', 'messages'], msg: 'Field required' }] });
    const { targets } = await check([{ endpoint: 'e' }], rerank);
    expect(targets[0]?.checks.at(-1)?.detail).toMatch(/dialect 'vllm'.*serves rerank requests/);
  });

  test('compare the counts of a text, and need no chat template', async () => {
    fakes.lambda.answers((response) => response.end('{"prompt_tokens":null,"text_tokens":[1],"special_tokens":2}'));
    answers({ data: [{ embedding: base64 }], usage: { prompt_tokens: 3 } });
    const own = { ...embed, tokenizer: { tokenizer: 'k' } };
    expect(await check([{ endpoint: 'e' }], own)).toMatchObject({
      passed: true,
      tokenizer: { passed: true, detail: expect.stringContaining('3 tokens') },
    });
    answers({ data: [{ embedding: base64 }], usage: { prompt_tokens: 4 } });
    const { passed, tokenizer } = await check([{ endpoint: 'e' }], own);
    expect({ passed, tokenizer }).toEqual({
      passed: false,
      tokenizer: {
        passed: false,
        detail: expect.stringMatching(/counted 3 tokens in a short text, .* counted 4\. Register the tokenizer that/),
      },
    });
  });
});
