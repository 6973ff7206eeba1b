import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Container, errorOf, PROMPT, post, startContainer, tokenizer } from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer({ windowTokens: 64 });
});
afterAll(() => container.close());

const COMPLETIONS = '/v1/completions';
const NO_HANDLER = "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']";
const NO_PROMPT = 'Either prompt or prompt_embeds must be provided and non-empty.';

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
    ['suffix', 1],
    ['stop', [1]],
    ['response_format', { type: 'yaml' }],
  ])('names the field on the completion route, but not on /invocations: %s %j', async (field, value) => {
    const body = { [field]: value };
    expect(await refuseText(body)).toEqual({ message: NO_HANDLER, type: 'BadRequestError', param: null, code: 400 });
    expect((await refuseText(body, COMPLETIONS)).message).toContain(`at ${field}`);
  });

  test.each([
    [{ prompt: '' }, NO_PROMPT],
    [{ prompt: null }, NO_PROMPT],
    [{ logprobs: -2 }, '`logprobs` must be a positive value or -1.'],
    [{ stream_options: { include_usage: true } }, 'Stream options can only be defined when `stream=True`.'],
    [{ cache_salt: '' }, "Parameter 'cache_salt' must be a non-empty string if provided."],
  ])('that is not about a type has the message of vLLM: %j', async (body, message) => {
    expect((await refuseText(body)).message).toBe(NO_HANDLER);
    expect(await refuseText(body, COMPLETIONS)).toEqual({ message, type: 'BadRequestError', param: null, code: 400 });
  });

  test('is returned without a prompt, or if the body is not an object', async () => {
    expect((await refuse({ max_tokens: 1 }, COMPLETIONS)).message).toBe(NO_PROMPT);
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
    [{ suffix: 'end' }, 'suffix is not currently supported'],
    [{ suffix: '' }, 'suffix is not currently supported'],
    [{ max_tokens: 0 }, 'max_tokens must be at least 1, got 0.'],
    [{ max_tokens: -1, echo: true }, 'max_tokens must be at least 1, got -1.'],
    [{ logprobs: 21 }, 'Requested sample logprobs of 21, which is greater than max allowed: 20'],
    [{ logprobs: -1 }, 'Requested sample logprobs of -1, which is greater than max allowed: 20'],
    [{ n: 0 }, 'n must be at least 1, got 0.'],
    [{ n: 2, temperature: 0 }, 'n must be 1 when using greedy sampling, got 2.'],
    [{ temperature: 3 }, 'temperature must be in [0, 2], got 3.0.'],
    [{ top_p: 0 }, 'top_p must be in (0, 1], got 0.0.'],
    [{ stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop must have at most 4 strings, got 5.'],
    [{ min_tokens: 17 }, 'min_tokens must be less than or equal to max_tokens=16, got 17.'],
    [{ allowed_token_ids: [] }, 'allowed_token_ids is not None and empty!'],
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

  test('does not include the limits of the range', async () => {
    const ends = [
      { prompt: Array(48).fill(5) },
      { logprobs: 20 },
      { max_tokens: 0, echo: true },
      { min_tokens: 16 },
      { prompt: [vocabularySize - 1] },
    ];
    for (const body of ends) expect((await post(container.url + COMPLETIONS, { prompt: PROMPT, ...body })).status).toBe(200);
  });
});

test('an unknown model is a 404', async () => {
  expect(await refuseText({ model: 'other' })).toEqual({
    message: 'The model `other` does not exist.',
    type: 'NotFoundError',
    param: 'model',
    code: 404,
  });
});
