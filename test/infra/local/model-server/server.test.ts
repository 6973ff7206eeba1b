import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Completion,
  type Container,
  chunksOf,
  complete,
  contentOf,
  EMBEDDING_MODEL_NAME,
  type ErrorBody,
  invoke,
  MODEL_NAME,
  post,
  question,
  REASONING_MODEL_NAME,
  RERANK_MODEL_NAME,
  startContainer,
  streamOf,
  tokenizer,
} from './fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const refusal = async (body: object, path = '/invocations'): Promise<ErrorBody['error']> => {
  const response = await post(`${container.url}${path}`, body);
  const { error } = (await response.json()) as ErrorBody;
  expect(error.code).toBe(response.status);
  return error;
};

describe('a chat completion', () => {
  test('has the shape of vLLM and is the same on both paths', async () => {
    const body = { model: MODEL_NAME, messages: question, temperature: 0, max_tokens: 20, unknown_field: { a: 1 } };
    const answers = await Promise.all(
      ['/invocations', '/v1/chat/completions'].map(async (path) => (await (await post(container.url + path, body)).json()) as Completion),
    );
    expect(answers[0]).toMatchObject({
      object: 'chat.completion',
      model: MODEL_NAME,
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
    });
    expect(answers[0]?.choices).toEqual(answers[1]?.choices);
    expect(answers[0]?.choices[0]).toMatchObject({ index: 0, message: { role: 'assistant' }, finish_reason: 'length', stop_reason: null });
  });

  test('counts the tokens of the rendered prompt and of the answer', async () => {
    const { usage } = await complete(container, { max_tokens: 13 });
    const prompt = tokenizer.encodeChat([{ role: 'user', content: question[0]?.content ?? '' }]).length;
    expect(usage).toEqual({ prompt_tokens: prompt, completion_tokens: 13, total_tokens: prompt + 13, prompt_tokens_details: null });
  });

  test('reads a text part like a string', async () => {
    const parts = [{ role: 'user', content: question.map(({ content }) => ({ type: 'text', text: content })) }];
    expect((await complete(container, { messages: parts })).choices).toEqual((await complete(container, {})).choices);
  });

  test('stops at a stop string, which is the stop reason and not in the content', async () => {
    const full = (await complete(container, { max_tokens: 60 })).choices[0]?.message.content ?? '';
    const stop = full.slice(9, 14);
    const { choices } = await complete(container, { max_tokens: 60, stop: [stop] });
    expect(choices[0]).toMatchObject({
      message: { content: full.slice(0, full.indexOf(stop)) },
      finish_reason: 'stop',
      stop_reason: stop,
    });
  });

  test('can fill the window without max_tokens', async () => {
    const small = await startContainer({ windowTokens: 30 });
    const { usage, choices } = await complete(small, {});
    await small.close();
    expect(choices[0]?.finish_reason).toBe('length');
    expect(usage?.total_tokens).toBe(30);
  });
});

describe('a stream', () => {
  test('has role, content, finish reason, usage and [DONE], and the content of the non-streamed response', async () => {
    const whole = await complete(container, { max_tokens: 40 });
    const events = await streamOf(container, { max_tokens: 40, stream_options: { include_usage: true } });
    const chunks = chunksOf(events);
    expect(events.at(-1)).toBe('[DONE]');
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(contentOf(chunks)).toBe(whole.choices[0]?.message.content);
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: whole.choices[0]?.finish_reason, stop_reason: null });
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect({ ...chunks.at(-1)?.usage, prompt_tokens_details: null }).toEqual(whole.usage);
    expect(new Set(chunks.map(({ id, object, model }) => `${id} ${object} ${model}`)).size).toBe(1);
  });

  test('has one chunk per token', async () => {
    const chunks = chunksOf(await streamOf(container, { max_tokens: 10 }));
    expect(chunks).toHaveLength(1 + 10 + 1);
  });

  test('has no usage unless requested', async () => {
    const chunks = chunksOf(await streamOf(container, { max_tokens: 3 }));
    expect(chunks.every(({ usage }) => usage === undefined)).toBe(true);
  });

  test('runs in parallel with other streams', async () => {
    const [long, short] = [streamOf(container, { max_tokens: 4_000, temperature: 0.5, seed: 3 }), streamOf(container, { max_tokens: 2 })];
    expect((await short).at(-1)).toBe('[DONE]');
    expect((await long).at(-1)).toBe('[DONE]');
  });
});

describe('an invalid request', () => {
  test('exceeds the window; the message is that of vLLM', async () => {
    const prompt = (await complete(container, { max_tokens: 1 })).usage?.prompt_tokens ?? 0;
    const error = await refusal({ messages: question, max_tokens: 8_192 });
    expect(error).toEqual({
      message: `This model's maximum context length is 8192 tokens. However, you requested ${prompt + 8_192} tokens (${prompt} in the messages, 8192 in the completion). Please reduce the length of the messages or completion.`,
      type: 'BadRequestError',
      param: null,
      code: 400,
    });
    expect((await invoke(container, { messages: question, max_tokens: 8_193 - prompt })).status).toBe(400);
    const long = await refusal({ messages: [{ role: 'user', content: 'water '.repeat(9_000) }] });
    expect(long.message).toMatch(/^This model's maximum context length is 8192 tokens\. However, your request has \d+ input tokens\./);
  });

  test.each([{}, { messages: 'Hi' }, { messages: [{ role: 'wizard', content: 'Hi' }] }, { messages: question, max_tokens: '5' }])(
    'does not fit the schema: %j',
    async (body) => {
      expect((await refusal(body)).message).toBe(
        "Cannot find suitable handler for request. Expected one of: ['ChatCompletionRequest', 'CompletionRequest']",
      );
      expect(await refusal(body, '/v1/chat/completions')).toMatchObject({ type: 'BadRequestError', code: 400 });
    },
  );

  test('is not JSON', async () => {
    const response = await post(`${container.url}/invocations`, '{"messages":');
    expect(response.status).toBe(400);
    expect(((await response.json()) as ErrorBody).error.message).toMatch(/^JSON decode error/);
  });

  test('names an unknown model', async () => {
    expect(await refusal({ messages: question, model: 'other' })).toEqual({
      message: 'The model `other` does not exist.',
      type: 'NotFoundError',
      param: 'model',
      code: 404,
    });
  });
});

describe('the other routes', () => {
  test('GET /ping returns 200', async () => {
    expect((await fetch(`${container.url}/ping`)).status).toBe(200);
  });

  test('GET /v1/models lists every model with its window', async () => {
    expect(await (await fetch(`${container.url}/v1/models`)).json()).toMatchObject({
      object: 'list',
      data: [MODEL_NAME, REASONING_MODEL_NAME, EMBEDDING_MODEL_NAME, RERANK_MODEL_NAME].map((id) => ({
        id,
        root: id,
        object: 'model',
        max_model_len: 8_192,
      })),
    });
  });

  test.each(['/', '/invocations', '/v1/embeddings'])('GET %s is a 404', async (path) => {
    expect((await fetch(container.url + path)).status).toBe(404);
  });
});
