import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OpenAI as LangChainCompletions } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { shareTestRun, type TestRun } from '../../support/clients/local-run.ts';

let run: TestRun;
let client: OpenAI;
beforeAll(async () => {
  run = await shareTestRun();
  client = new OpenAI({ apiKey: run.api_key, baseURL: `${run.base_url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await run.close();
});

const ask = { model: 'sluice-tiny', prompt: 'The river runs', max_tokens: 12, temperature: 0 };

describe('the official OpenAI client', () => {
  test('completes a prompt with the same text, streamed or not', async () => {
    const whole = await client.completions.create(ask);
    expect(whole).toMatchObject({
      object: 'text_completion',
      model: 'sluice-tiny',
      choices: [{ index: 0, text: expect.stringMatching(/\w/), logprobs: null }],
    });
    expect(whole.id).toMatch(/^cmpl-/);
    expect(whole.usage?.total_tokens).toBe((whole.usage?.prompt_tokens ?? 0) + (whole.usage?.completion_tokens ?? 0));
    let text = '';
    let usage: unknown;
    for await (const chunk of await client.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.text ?? '';
      usage ??= chunk.usage;
    }
    expect(text).toBe(whole.choices[0]?.text);
    expect(usage).toEqual(whole.usage);
  });

  test('returns 16 tokens when max_tokens is absent', async () => {
    const { usage } = await client.completions.create({
      model: 'sluice-tiny',
      prompt: 'Rivers',
      extra_body: {},
      ignore_eos: true,
    } as never);
    expect((usage as { completion_tokens: number }).completion_tokens).toBe(16);
  });

  test('completes several prompts, n times each, in order', async () => {
    const { choices, usage } = await client.completions.create({
      ...ask,
      prompt: ['The river', 'The harbour'],
      n: 2,
      temperature: 1,
      seed: 5,
    });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(usage?.prompt_tokens).toBeGreaterThan(3);
    const alone = await client.completions.create({ ...ask, prompt: 'The river', n: 2, temperature: 1, seed: 5 });
    expect(choices.slice(0, 2).map(({ text }) => text)).toEqual(alone.choices.map(({ text }) => text));
  });

  test('accepts token ids instead of text', async () => {
    const { choices } = (await client.completions.create({ ...ask, return_token_ids: true } as never)) as unknown as {
      choices: { text: string; prompt_token_ids: number[] }[];
    };
    const ids = choices[0]?.prompt_token_ids ?? [];
    expect((await client.completions.create({ ...ask, prompt: ids })).choices[0]?.text).toBe(choices[0]?.text);
    expect((await client.completions.create({ ...ask, prompt: [ids, ids] })).choices).toHaveLength(2);
  });

  test('echoes the prompt, also without a completion, with log probabilities of both', async () => {
    const echoed = await client.completions.create({ ...ask, echo: true, logprobs: 1 });
    expect(echoed.choices[0]?.text).toMatch(/^The river runs/);
    const { tokens, token_logprobs, text_offset, top_logprobs } = echoed.choices[0]?.logprobs ?? {};
    expect(token_logprobs?.[0]).toBeNull();
    expect(tokens?.join('')).toBe(echoed.choices[0]?.text);
    expect(text_offset?.[1]).toBe(tokens?.[0]?.length);
    expect(top_logprobs).toHaveLength(tokens?.length ?? 0);
    const alone = await client.completions.create({ ...ask, echo: true, max_tokens: 0 });
    expect(alone).toMatchObject({ choices: [{ text: 'The river runs' }], usage: { completion_tokens: 0 } });
  });

  test('gets errors for an unsupported field and a prompt that does not fit, else a lowered max_tokens', async () => {
    await expect(client.completions.create({ ...ask, suffix: 'the end' })).rejects.toMatchObject({ status: 400, param: 'suffix' });
    await expect(client.completions.create({ ...ask, prompt: 'word '.repeat(20_000) })).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'prompt',
      message: expect.stringMatching(/tokens in the prompt.*Shorten the prompt/),
    });
    const long = await client.completions.create({
      ...ask,
      prompt: 'The river runs to the sea. '.repeat(800),
      max_tokens: 4_000,
      stop: ['.'],
    });
    expect(long.usage?.prompt_tokens).toBeGreaterThan(6_000);
  });

  test('is billed like any other request', async () => {
    const { secret, key_id } = await run.createKey();
    const own = new OpenAI({ apiKey: secret, baseURL: `${run.base_url}/v1` });
    const { usage } = await own.completions.create({ ...ask, n: 1 });
    expect(await run.eventsOf(key_id)).toEqual([
      expect.objectContaining({
        route: '/v1/completions',
        prompt_tokens: usage?.prompt_tokens,
        completion_tokens: usage?.completion_tokens,
        outcome: 'completed',
      }),
    ]);
  });
});

describe('POST /v1/completions', () => {
  test('completes a prompt with the Vercel AI SDK, streamed or not', async () => {
    const model = createOpenAICompatible({ name: 'sluice', baseURL: `${run.base_url}/v1`, apiKey: run.api_key }).completionModel(
      'sluice-tiny',
    );
    expect((await generateText({ model, prompt: 'The river', maxOutputTokens: 10 })).text).toMatch(/\w/);
    let text = '';
    for await (const part of streamText({ model, prompt: 'The river', maxOutputTokens: 10 }).textStream) text += part;
    expect(text).toMatch(/\w/);
  });

  test('completes a prompt with LangChain, streamed or not', async () => {
    const model = new LangChainCompletions({
      model: 'sluice-tiny',
      apiKey: run.api_key,
      maxTokens: 10,
      temperature: 0,
      configuration: { baseURL: `${run.base_url}/v1` },
    });
    const whole = await model.invoke('The river');
    expect(whole).toMatch(/\w/);
    let text = '';
    for await (const part of await model.stream('The river')) text += part;
    expect(text).toBe(whole);
  });
});
