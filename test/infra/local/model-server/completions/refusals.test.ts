import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, errorOf, PROMPT, post, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer({ windowTokens: 64 });
});
afterAll(() => container.close());

const COMPLETIONS = '/v1/completions';
const NO_HANDLER = "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']";

const refuse = async (body: unknown, path = '/invocations') => errorOf(await post(container.url + path, JSON.stringify(body)));
const refuseText = (body: object, path?: string) => refuse({ prompt: PROMPT, ...body }, path);

describe('a schema error', () => {
  test.each([
    ['prompt', 5],
    ['prompt', { text: 'Hi' }],
    ['prompt', ['a', 1]],
    ['prompt', [1, -1]],
    ['prompt', [1.5]],
    ['prompt', [[1], 'a']],
    ['n', null],
    ['logprobs', true],
    ['logprobs', 1.5],
    ['max_tokens', '5'],
    ['echo', 'yes'],
    ['ignore_eos', null],
    ['min_tokens', null],
    ['bad_words', null],
    ['skip_special_tokens', null],
    ['include_stop_str_in_output', null],
    ['request_id', null],
    ['stop', [1]],
    ['response_format', { type: 'yaml' }],
  ])('names the field on the completion route, but not on /invocations: %s %j', async (field, value) => {
    const body = { [field]: value };
    expect(await refuseText(body)).toEqual({ message: NO_HANDLER, type: 'BadRequestError', param: null, code: 400 });
    expect((await refuseText(body, COMPLETIONS)).message).toContain(`at ${field}`);
  });

  test('is returned without a prompt, or if the body is not an object', async () => {
    expect((await refuse({ max_tokens: 1 }, COMPLETIONS)).message).toContain('at prompt');
    for (const body of [[], 'text', null, 1]) expect((await refuse(body)).message).toBe(NO_HANDLER);
    const broken = await errorOf(await post(container.url + COMPLETIONS, '{"prompt":'));
    expect(broken).toMatchObject({ message: expect.stringMatching(/^JSON decode error/), code: 400 });
  });

  test('does not occur for null and unknown keys', async () => {
    const nullable = [
      'model',
      'max_tokens',
      'temperature',
      'seed',
      'stop',
      'logprobs',
      'echo',
      'stream',
      'stream_options',
      'suffix',
      'user',
    ];
    const more = ['return_token_ids', 'cache_salt', 'response_format', 'stop_token_ids', 'allowed_token_ids', 'logit_bias', 'best_of'];
    const body = { prompt: PROMPT, ...Object.fromEntries([...nullable, ...more].map((field) => [field, null])), extra: { deep: [1] } };
    for (const path of ['/invocations', COMPLETIONS]) expect((await post(container.url + path, body)).status).toBe(200);
  });
});

describe('an invalid value', () => {
  const { vocabularySize } = tokenizer;
  const window = "This model's maximum context length is 64 tokens. However,";

  test.each([
    [{ prompt: [] }, 'please provide at least one prompt'],
    [{ prompt: [''] }, 'The decoder prompt cannot be empty'],
    [{ prompt: [PROMPT, ''] }, 'The decoder prompt cannot be empty'],
    [{ prompt: [[]] }, 'The decoder prompt cannot be empty'],
    [{ prompt: [1, vocabularySize, 2] }, `Token id ${vocabularySize} is out of vocabulary`],
    [{ prompt: [[1], [9_999_999]] }, 'Token id 9999999 is out of vocabulary'],
    [
      { prompt: Array(60).fill(5) },
      `${window} you requested 76 tokens (60 in the messages, 16 in the completion). Please reduce the length of the messages or completion.`,
    ],
    [{ prompt: [[5], Array(64).fill(5)] }, `${window} your request has 64 input tokens. Please reduce the length of the input messages.`],
  ])('has the same message on both routes: %j', async (body, message) => {
    const error = { message, type: 'BadRequestError', param: null, code: 400 };
    expect(await refuseText(body)).toEqual(error);
    expect(await refuseText(body, COMPLETIONS)).toEqual(error);
  });
});

test('answers an unknown model with a 404', async () => {
  expect(await refuseText({ model: 'other' })).toEqual({
    message: 'The model `other` does not exist.',
    type: 'NotFoundError',
    param: 'model',
    code: 404,
  });
});
