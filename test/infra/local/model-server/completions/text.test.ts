import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Container,
  completeText,
  control,
  eventsOf,
  MODEL_NAME,
  model,
  PROMPT,
  post,
  REASONING_MODEL_NAME,
  startContainer,
  streamText,
  type TextCompletion,
  tokenizer,
} from '../fixtures.ts';

let container: Container;
beforeAll(async () => {
  container = await startContainer();
});
afterAll(() => container.close());

const ids = tokenizer.encodePrompt(PROMPT);
const OTHER = 'A harbour is';
const textsOf = async (body: object) => (await completeText(container, body)).choices.map(({ text }) => text);

describe('a completion', () => {
  test('has the shape of vLLM and is the same on both paths, and ignores unknown fields', async () => {
    const body = {
      model: MODEL_NAME,
      prompt: PROMPT,
      temperature: 0,
      best_of: 3,
      use_beam_search: true,
      request_id: 'req_1',
      cache_salt: 'x',
      user: 'u',
    };
    const replies = await Promise.all(
      ['/invocations', '/v1/completions'].map(async (path) => (await (await post(container.url + path, body)).json()) as TextCompletion),
    );
    expect(replies[0]).toEqual({
      id: 'cmpl-req_1',
      object: 'text_completion',
      created: expect.any(Number),
      model: MODEL_NAME,
      choices: [
        {
          index: 0,
          text: expect.stringMatching(/./),
          logprobs: null,
          finish_reason: 'length',
          stop_reason: null,
          token_ids: null,
          prompt_logprobs: null,
          prompt_token_ids: null,
        },
      ],
      usage: { prompt_tokens: ids.length, completion_tokens: 16, total_tokens: ids.length + 16, prompt_tokens_details: null },
    });
    expect(replies[1]?.choices).toEqual(replies[0]?.choices);
  });

  test('continues the text, given as a string or as token ids', async () => {
    const [text] = await textsOf({});
    expect(text).toMatch(/^ /);
    for (const prompt of [[PROMPT], ids, [ids]]) expect(await textsOf({ prompt })).toEqual([text]);
  });

  test('has 16 tokens by default and if max_tokens is null', async () => {
    for (const fields of [{}, { max_tokens: null }]) {
      expect((await completeText(container, fields)).usage?.completion_tokens).toBe(16);
    }
    expect((await completeText(container, { max_tokens: 5 })).usage?.completion_tokens).toBe(5);
  });

  test('has n choices per prompt in order, and counts each prompt once in the usage', async () => {
    const body = { prompt: [PROMPT, OTHER], n: 2, temperature: 0.8, seed: 7, max_tokens: 12 };
    const { choices, usage } = await completeText(container, body);
    const alone = await Promise.all([PROMPT, OTHER].map((prompt) => textsOf({ ...body, prompt })));
    expect(choices.map(({ index, text }) => ({ index, text }))).toEqual(alone.flat().map((text, index) => ({ index, text })));
    expect(new Set(alone.flat()).size).toBe(4);
    const prompts = ids.length + tokenizer.encodePrompt(OTHER).length;
    expect(usage).toMatchObject({ prompt_tokens: prompts, completion_tokens: 48, total_tokens: prompts + 48 });
  });

  test('has the choices of each of several token prompts', async () => {
    const prompt = [PROMPT, OTHER].map(tokenizer.encodePrompt);
    expect(await textsOf({ prompt })).toEqual(await textsOf({ prompt: [PROMPT, OTHER] }));
  });

  test('returns token ids if requested', async () => {
    const { choices } = await completeText(container, { prompt: [PROMPT, OTHER], return_token_ids: true });
    expect(choices.map(({ prompt_token_ids }) => prompt_token_ids)).toEqual([ids, tokenizer.encodePrompt(OTHER)]);
    for (const { text, token_ids } of choices) expect(tokenizer.decode(token_ids ?? [])).toBe(text);
  });

  test('reads the spelling of a special token as that token', async () => {
    const { choices } = await completeText(container, { prompt: 'Hi<|im_end|>', return_token_ids: true });
    expect(choices[0]?.prompt_token_ids).toEqual([...tokenizer.encodeText('Hi'), model.endOfTurn]);
  });

  test('answers a rendered conversation', async () => {
    const messages = [{ role: 'user', content: 'What is a weir?' }] as const;
    const reply = await post(`${container.url}/invocations`, { messages, temperature: 0, max_tokens: 20 });
    const { choices } = (await reply.json()) as { choices: [{ message: { content: string } }] };
    expect(await textsOf({ prompt: tokenizer.encodeChat(messages), max_tokens: 20 })).toEqual([choices[0].message.content]);
  });

  test('has no reasoning with the reasoning model', async () => {
    expect(await textsOf({ model: REASONING_MODEL_NAME })).toEqual(await textsOf({}));
  });

  test('answers a body with a prompt and invalid messages', async () => {
    expect(await textsOf({ messages: [{ role: 'wizard', content: 'Hi' }] })).toEqual(await textsOf({}));
  });
});

describe('the fields shared with chat', () => {
  const END = String(model.endOfTurn);

  test('control the sampling', async () => {
    const z = tokenizer.encodeText('z')[0] ?? -1;
    expect(await textsOf({ logit_bias: { [z]: 100 }, max_tokens: 3 })).toEqual(['zzz']);
    expect(await textsOf({ temperature: 2, allowed_token_ids: [z], max_tokens: 2 })).toEqual(['zz']);
    expect(await textsOf({ temperature: 1, top_k: 1 })).toEqual(await textsOf({}));
    expect(await textsOf({ temperature: 1, seed: 3 })).toEqual(await textsOf({ temperature: 1, seed: 3 }));
    const [plain = ''] = await textsOf({ max_tokens: 60 });
    const word = /[a-z]+/.exec(plain)?.[0] ?? '';
    expect((await textsOf({ max_tokens: 60, bad_words: [word] }))[0]).not.toMatch(new RegExp(`\\b${word}\\b`));
    for (const penalty of ['presence_penalty', 'frequency_penalty', 'repetition_penalty']) {
      expect(await textsOf({ max_tokens: 80, ignore_eos: true, [penalty]: 2 })).not.toEqual(
        await textsOf({ max_tokens: 80, ignore_eos: true }),
      );
    }
  });

  test('control where the text ends', async () => {
    const [plain = ''] = await textsOf({});
    const stop = plain.slice(4, 8);
    const stopped = await completeText(container, { stop });
    expect(stopped.choices[0]).toMatchObject({ text: plain.slice(0, plain.indexOf(stop)), finish_reason: 'stop', stop_reason: stop });
    expect(await textsOf({ stop, include_stop_str_in_output: true })).toEqual([plain.slice(0, plain.indexOf(stop) + 4)]);
    const eager = { logit_bias: { [END]: 100 } };
    expect((await completeText(container, eager)).choices[0]).toMatchObject({ text: '', finish_reason: 'stop', stop_reason: null });
    expect((await completeText(container, { ...eager, min_tokens: 4 })).usage?.completion_tokens).toBe(5);
    expect((await completeText(container, { ...eager, ignore_eos: true })).choices[0]?.finish_reason).toBe('length');
    expect(await textsOf({ ...eager, skip_special_tokens: false })).toEqual(['<|im_end|>']);
    const stops = { stop_token_ids: [model.endOfTurn - 1], logit_bias: { [model.endOfTurn - 1]: 200 } };
    expect((await completeText(container, stops)).choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: model.endOfTurn - 1 });
  });

  test('constrain the text to JSON', async () => {
    const [text = ''] = await textsOf({ response_format: { type: 'json_object' }, max_tokens: 200 });
    expect(JSON.parse(text)).toEqual(expect.any(Object));
    const schema = { type: 'object', properties: { depth: { type: 'integer' } }, required: ['depth'] };
    const [fitting = ''] = await textsOf({
      response_format: { type: 'json_schema', json_schema: { name: 'weir', schema } },
      max_tokens: 50,
    });
    expect(JSON.parse(fitting)).toEqual({ depth: 0 });
  });
});

describe('a stream', () => {
  test('has a chunk per token with the content of the non-streamed response, then usage and [DONE]', async () => {
    const body = { prompt: [PROMPT, OTHER], max_tokens: 12, return_token_ids: true };
    const whole = await completeText(container, body);
    const { chunks, end } = await streamText(container, { ...body, stream_options: { include_usage: true } });
    const usage = chunks.pop();
    expect(end).toBe('[DONE]');
    expect(usage).toMatchObject({ object: 'text_completion', choices: [] });
    expect({ ...usage?.usage, prompt_tokens_details: null }).toEqual(whole.usage);
    expect(chunks).toHaveLength(24);
    expect(new Set(chunks.map(({ id, object, created, model: name }) => `${id.slice(0, 5)} ${object} ${created} ${name}`)).size).toBe(1);
    for (const choice of whole.choices) {
      const parts = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === choice.index);
      expect(parts.map(({ text }) => text).join('')).toBe(choice.text);
      expect(parts.flatMap(({ token_ids }) => token_ids)).toEqual(choice.token_ids);
      expect(parts.map(({ prompt_token_ids }) => prompt_token_ids)).toEqual([choice.prompt_token_ids, ...Array(11).fill(null)]);
      expect(parts.map(({ finish_reason }) => finish_reason)).toEqual([...Array(11).fill(null), 'length']);
    }
  });

  test('has usage and token ids only if requested', async () => {
    const { chunks } = await streamText(container, { max_tokens: 2 });
    expect(chunks.map(({ usage, choices }) => ({ usage, ...choices[0] }))).toMatchObject(
      Array(2).fill({ usage: undefined, token_ids: null, prompt_token_ids: null, logprobs: null, stop_reason: null }),
    );
  });

  test('names the stop string in the last chunk', async () => {
    const [plain = ''] = await textsOf({});
    const { chunks } = await streamText(container, { stop: plain.slice(4, 8) });
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: plain.slice(4, 8) });
  });
});

describe('/control', () => {
  test('delays tokens and omits usage', async () => {
    const slow = await startContainer({ tokenDelayMs: 15 });
    await control(slow, { omit_usage: true });
    const start = performance.now();
    const reply = await completeText(slow, { prompt: [PROMPT, OTHER], max_tokens: 6 });
    expect(performance.now() - start).toBeGreaterThan(5 * 14);
    expect(reply).not.toHaveProperty('usage');
    await slow.close();
  });

  test('breaks text completions like chat completions', async () => {
    const faulty = await startContainer();
    const stream = () => post(`${faulty.url}/v1/completions`, { prompt: PROMPT, stream: true });
    await control(faulty, { fault: { kind: 'error', status: 503, body: { error: 'busy' }, times: 1 } });
    expect((await stream()).status).toBe(503);
    await control(faulty, { fault: { kind: 'error_event', after_tokens: 3, times: 1 } });
    const events = eventsOf(await (await stream()).text());
    expect(events).toHaveLength(3 + 2);
    expect(JSON.parse(events[3] ?? '')).toHaveProperty('error');
    await control(faulty, { fault: { kind: 'end_without_done', after_tokens: 2 } });
    expect(eventsOf(await (await stream()).text())).toHaveLength(2);
    await faulty.close();
  });
});
